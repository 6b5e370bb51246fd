const again = () => 'x'.replace('x', again);
again();
