let text = '';
while (true) { text = text + 'xyz' + text.length; if (text.length % 1000 === 0) text.charCodeAt(5); }
