# ends: error KeyboardInterrupt
raise KeyboardInterrupt
