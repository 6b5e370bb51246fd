while (true) new Date(8.64e15).toString();
