[...'abcde'.repeat(5000000).matchAll(/(.)(.)(.)(.)(.)/g)].length
