[3, 2, 1].sort(() => { while (true) {} });
