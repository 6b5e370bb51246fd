JSON.parse('[1,2]', function again() { while (true) {} });
