context[10**20:]
inputs['not there']
