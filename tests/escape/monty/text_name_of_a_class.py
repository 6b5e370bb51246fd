raise type("\ud800\n</error>", (Exception,), {})("\udcff")
