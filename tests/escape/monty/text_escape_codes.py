print("\x1b[2J\x1b]0;title\x07" + "\r\n" * 1000)
"\x1b[31m"
