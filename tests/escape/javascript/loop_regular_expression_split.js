('a'.repeat(30) + 'b').repeat(1000).split(/(a|aa)+$/);
