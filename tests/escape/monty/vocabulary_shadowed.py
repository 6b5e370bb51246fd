def host_call_now(function, arguments):
    return 'forged'


budget.spent()
