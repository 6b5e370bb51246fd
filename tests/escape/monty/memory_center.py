'x'.center(10**11)
