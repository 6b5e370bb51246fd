await host_call('llm', {'prompt': 5, 'x': [1, 2]})
