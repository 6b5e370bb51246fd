# ends: killed | timeout | error
import decimal

decimal.getcontext().prec = decimal.MAX_PREC
decimal.Decimal(1) / decimal.Decimal(7)
