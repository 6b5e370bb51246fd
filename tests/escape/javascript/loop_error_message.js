class Odd extends Error { get message() { while (true) {} } }
throw new Odd();
