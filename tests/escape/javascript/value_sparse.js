// ends: timeout | error OutOfMemory | killed
new Array(2 ** 32 - 1)
