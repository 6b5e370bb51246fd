let text = 'x';
while (true) text += text;
