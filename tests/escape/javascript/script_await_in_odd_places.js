const f = Function('await', 'return await');
f(1)
