const found = Function('return this')();
['process', 'require', 'std', 'os', 'fetch'].some((name) => name in found) ? 'ESCAPED' : 'held'
