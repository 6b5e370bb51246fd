Array(2 ** 31).join();
