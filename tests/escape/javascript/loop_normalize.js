while (true) 'ﷺ'.repeat(100000).normalize('NFKD');
