found = llm.__globals__
'ESCAPED' if '__builtins__' in found or 'sys' in found else 'held'
