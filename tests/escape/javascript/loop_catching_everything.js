while (true) { try { while (true) {} } catch (error) {} }
