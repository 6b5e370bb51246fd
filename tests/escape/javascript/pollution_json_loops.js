JSON.stringify = JSON.parse = () => { while (true) {} };
1
