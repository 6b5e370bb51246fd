bytes(10**11)
