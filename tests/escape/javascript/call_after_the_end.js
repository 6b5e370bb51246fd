setTimeout(() => { while (true) {} }, 0);
llm('a').then(() => { while (true) {} });
1
