# ends: ok | error
# The errors that cells meet are the runner's own classes.
for error in (Timeout, TaskError, Deadlock, InputChanged):
    error.__str__ = error.__init__ = lambda self, *given: 1 / 0
await llm("fail")
