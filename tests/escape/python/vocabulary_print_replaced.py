# ends: ok | error
import builtins

builtins.print = lambda *given, **named: 1 / 0
1
