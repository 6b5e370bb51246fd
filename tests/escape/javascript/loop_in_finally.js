function again() { try { while (true) {} } finally { again(); } }
again();
