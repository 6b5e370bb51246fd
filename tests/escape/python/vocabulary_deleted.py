# ends: ok
import builtins

del builtins.llm, builtins.FINAL, builtins.TaskError
1
