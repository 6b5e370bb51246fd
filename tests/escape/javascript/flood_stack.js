const odd = new Error('x');
odd.stack = ('at eval_script:1 ' + 'x'.repeat(1000) + '\n').repeat(50000);
throw odd;
