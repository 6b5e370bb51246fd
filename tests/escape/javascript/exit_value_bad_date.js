new Date(NaN)
