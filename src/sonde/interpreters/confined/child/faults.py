"""The errors that code in a cell can meet and catch."""


class TaskError(RuntimeError):
    """What a cell called has failed. `kind` says how; `retryable` whether the same call may yet succeed."""

    def __init__(self, kind: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class Timeout(BaseException):
    """The cell has used up its processor time. It is no Exception, so that a loop which goes on after errors ends too;
    caught all the same, it comes again, and then the host ends the interpreter."""


class Deadlock(RuntimeError):
    """The cell waits for something that nothing can bring about."""


class InputChanged(RuntimeError):
    """An input shrank or changed while it was being read."""
