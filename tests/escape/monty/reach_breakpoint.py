breakpoint()
'held'
