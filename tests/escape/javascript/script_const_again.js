const again = 1;
const again2 = again;
{ const again = 2; }
again
