found = ().__class__.__base__.__subclasses__()
'ESCAPED' if any('Popen' in str(each) for each in found) else 'held'
