function again() { try { again(); } catch { again(); } }
again();
