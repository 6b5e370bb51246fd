# ends: killed | timeout
pow(3, 10**200000, 10**200000 + 7)
