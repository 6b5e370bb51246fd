# ends: killed | timeout | error
import decimal

decimal.getcontext().prec = 10_000_000
decimal.Decimal("1.0000001") ** decimal.Decimal("12345678.9")
