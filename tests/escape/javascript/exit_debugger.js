debugger;
1
