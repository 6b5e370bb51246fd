# ends: ok | error | killed | timeout
import builtins

builtins.len = builtins.isinstance = builtins.type = lambda *given: 5
