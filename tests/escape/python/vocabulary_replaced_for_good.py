# ends: ok
import builtins

builtins.llm = builtins.gather = builtins.FINAL = None
1
