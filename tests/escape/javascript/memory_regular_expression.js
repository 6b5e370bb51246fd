new RegExp('(?:' .repeat(1000) + 'a{1,9999}' + '){1,9999}'.repeat(1000));
