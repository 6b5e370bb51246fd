const again = () => [2, 1].sort(again).length;
again();
