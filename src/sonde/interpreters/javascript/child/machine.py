"""QuickJS as a WebAssembly instance, driven by turns.

Of the package that carries it only the compiled engine is used. It is given no system interface at all: no files, no
clock, no chance. Instances cannot be compiled or made once the process is confined, so one is made before that and
copied with the process.
"""

import struct
from collections.abc import Callable
from importlib.resources import files
from typing import Any, TypeVar, cast

import wasmtime

from .compiled import compiled

_STACK = 6 << 20
"""Of a thread's usual eight megabytes: what the frames of the deepest recursion allowed take."""
_SHADOW_STACK = 300 << 10
"""What those frames take of the stack that QuickJS can see, which is in its memory. It has a megabyte."""
_STACK_TOP = 1 << 20
_MARK = 0x6B3C4D1
_FAILED = -1
_INPUT = 64 << 10
_RESERVE, _OF_RESERVE = 1 / 16, 1 / 8
"""What is kept back of the memory, and what of that is given each time when it is full."""
_PAGE = 64 << 10

Made = TypeVar("Made")


class Broken(Exception):
    """QuickJS has failed in a way that it cannot go on from."""


class Exhausted(Broken):
    """It was out of memory where it needs some to go on."""


class Burst(Broken):
    """It was out of memory where it cannot do without."""


class Overflowed(Broken):
    """It recursed deeper than it could notice."""


class Machine:
    """One instance. `ask` answers a call from the code with a text; `is_over` tells, often asked, whether the code is
    to be interrupted. Raises `ImportError` if the engine is not one that it knows how to limit."""

    def __init__(self) -> None:
        self.ask: Callable[[str], str] = lambda text: text
        self.is_over: Callable[[], bool] = lambda: False
        config = wasmtime.Config()
        config.parallel_compilation = False  # no thread may be there when the process is forked
        _allow_stack(config, _STACK)
        engine = wasmtime.Engine(config)
        self._store = wasmtime.Store(engine)
        self._exports = self._instantiate(engine)
        self._memory = cast("wasmtime.Memory", self._exports["memory"])
        self._out: int = self._call("qjs_alloc", 64)
        self._limit_recursion()
        self._turns = self._link_turns(engine)
        self._input: int = self._call("qjs_alloc", _INPUT)
        self._most = self._limit = 0

    def limit_memory(self, size: int) -> None:
        """Let it have no more than so many bytes from now on, of which some are kept in reserve."""
        self._most, self._limit = size, int(size * (1 - _RESERVE))
        self._store.set_limits(memory_size=self._limit)

    def break_into_reserve(self) -> None:
        """Let it have a little more, to tell that it is full, and to let go of something."""
        self._limit = min(self._limit + int(self._most * _RESERVE * _OF_RESERVE), self._most)
        self._store.set_limits(memory_size=self._limit)

    def is_at_its_limit(self) -> bool:
        """Whether it has all the memory that it may have, if not in use."""
        return self._memory.data_len(self._store) + _PAGE > self._limit

    def define(self, source: str) -> int:
        """Return the function that a script comes to."""
        return self._evaluate(source)

    def equip(self, define: int, ask: str, given: str) -> None:
        """Call a function with a function that asks us, by name, and a text; what it returns runs the turns: an object
        with the functions `take`, `next`, `report`, `watch`, `fail` and `stack`."""
        asking = self._with_text(ask, lambda at, size: self._call("new_function", at, size))
        text = self._with_text(given, lambda at, size: self._call("new_string", at, size))
        undefined = self._call("new_undefined")
        self._write(self._out + 16, struct.pack("<2i", asking, text))
        if self._call("call_function", define, undefined, self._out + 16, 2, self._out) != 0:
            raise ImportError(f"the vocabulary fails: {self._exception()}")
        made = self._word(self._out)
        functions = [self._property(made, name) for name in ("take", "next", "report", "watch", "fail")]
        self._turns["prepare"](self._store, self._out + 32, undefined, *functions)
        self._stack_of = (self._property(made, "stack"), undefined)

    def begin(self, code: str) -> str:
        """Begin to run code; return what it reports once it can do nothing more. Raises `Broken`."""
        return self._turn("begin", encoded(code))

    def answer(self, answers: str) -> str:
        """Hand answers over, each when the code can do nothing more, and return what it reports. Raises `Broken`."""
        return self._turn("answer", encoded(answers))

    def go_on(self) -> str:
        """Let the code run as far as it can. Raises `Broken`."""
        return self._told(self._enter("run"))

    def stack(self) -> str:
        """Return where the code is that is running, as QuickJS writes it."""
        if self._call("call_function", *self._stack_of, self._out, 0, self._out) != 0:
            return ""
        return self._text(self._word(self._out))

    def _turn(self, name: str, given: bytes) -> str:
        if len(given) <= _INPUT:
            self._write(self._input, given)
            return self._told(self._enter(name, self._input, len(given)))
        return self._with_bytes(given, lambda at, size: self._told(self._enter(name, at, size)))

    def _enter(self, name: str, *arguments: int) -> int:
        try:
            told: int = self._turns[name](self._store, *arguments)
        except wasmtime.Trap as trap:
            if trap.trap_code in {wasmtime.TrapCode.STACK_OVERFLOW, wasmtime.TrapCode.MEMORY_OUT_OF_BOUNDS}:
                raise Overflowed("the code recursed too deep") from None
            if self.is_at_its_limit():
                raise Burst("out of memory") from None
            raise Broken(str(trap)) from None
        if told == _FAILED:
            raise Exhausted(self._exception())
        return told

    def _told(self, told: int) -> str:
        """Return the text at an address and of a length."""
        at, size = (told >> 32) & 0xFFFFFFFF, told & 0xFFFFFFFF
        return self._memory.read(self._store, at, at + size).decode("utf-8", "replace")

    # --- What QuickJS calls -------------------------------------------------------------------------------------

    def _host_call(self, name: int, name_size: int, this: int, count: int, arguments: int) -> int:
        """Answer a call from the code. Nothing may be raised from here."""
        text = self._told(self._enter("argument", arguments))
        return self._with_text(self.ask(text), lambda at, size: self._call("new_string", at, size))

    def _host_interrupt(self) -> int:
        return int(self.is_over())

    # --- Making it ----------------------------------------------------------------------------------------------

    def _instantiate(self, engine: wasmtime.Engine) -> Any:
        module = compiled(engine, (files("quickjs_rs") / "_guest.wasm").read_bytes())
        linker = wasmtime.Linker(engine)
        ours = {"host_call": self._host_call, "host_interrupt": self._host_interrupt}
        for wanted in module.imports:
            if wanted.name in ours:
                function_type = cast("wasmtime.FuncType", wanted.type)
                linker.define_func(wanted.module, wanted.name, function_type, ours[wanted.name])
        # All else that it could ask of a system does nothing and gives zero.
        linker.define_unknown_imports_as_default_values(self._store, module)
        return linker.instantiate(self._store, module).exports(self._store)

    def _link_turns(self, engine: wasmtime.Engine) -> dict[str, wasmtime.Func]:
        source = (files("sonde.interpreters.javascript.child") / "turns.wat").read_text("utf-8")
        linker = wasmtime.Linker(engine)
        module = wasmtime.Module(engine, source)
        for wanted in module.imports:
            linker.define(self._store, "js", str(wanted.name), self._exports[wanted.name])
        exports = linker.instantiate(self._store, module).exports(self._store)
        return {each.name: cast("wasmtime.Func", exports[each.name]) for each in module.exports}

    def _limit_recursion(self) -> None:
        """Have QuickJS notice recursion: built for WebAssembly it checks for a limit, but has no way to set one. The
        limit is the word behind the stack's top, which lies near the memory limit, which can be set."""
        self._call("set_memory_limit", _MARK)
        self._call("free_value", self._evaluate("0"))
        words = memoryview(bytes(self._memory.read(self._store))).cast("I")
        for mark in (place for place, word in enumerate(words) if word == _MARK):
            for place in range(mark, mark + 64):
                if _STACK_TOP - 4096 < words[place] < _STACK_TOP and words[place + 1] == 0:
                    self._write(4 * (place + 1), struct.pack("<I", words[place] - _SHADOW_STACK))
        self._call("set_memory_limit", 0x7FFFFFFF)
        overflows = (
            "(() => { try { (function f() { f(); })(); } catch (error) { return error instanceof RangeError; } })()"
        )
        try:
            noticed = self._evaluate(overflows)
        except wasmtime.Trap:
            raise ImportError("this version of quickjs_rs cannot be kept from endless recursion") from None
        self._call("free_value", noticed)

    # --- Calls into it, one by one ------------------------------------------------------------------------------

    def _call(self, name: str, *arguments: int) -> Any:
        return self._exports[name](self._store, *arguments)

    def _evaluate(self, source: str) -> int:
        if self._with_text(source, lambda at, size: self._call("eval_code", at, size, self._out)) != 0:
            raise ImportError(f"QuickJS fails: {self._exception()}")
        return self._word(self._out)

    def _property(self, value: int, name: str) -> int:
        self._with_text(name, lambda at, size: self._call("get_prop", value, at, size, self._out))
        return self._word(self._out)

    def _exception(self) -> str:
        if self._call("last_exception", self._out) != 0:
            return "out of memory"
        return self._text(self._property(self._word(self._out), "message"))

    def _text(self, value: int) -> str:
        if self._call("get_string", value) != 0:
            return ""
        at: int = self._call("qjs_last_ptr")
        return self._told(at << 32 | self._call("qjs_last_len"))

    def _with_text(self, text: str, use: Callable[[int, int], int]) -> int:
        return self._with_bytes(encoded(text), use)

    def _with_bytes(self, data: bytes, use: Callable[[int, int], Made]) -> Made:
        at: int = self._call("qjs_alloc", len(data))
        if at == 0:
            raise Exhausted("out of memory")
        try:
            self._write(at, data)
            return use(at, len(data))
        finally:
            self._call("qjs_free", at, len(data))

    def _write(self, at: int, data: bytes) -> None:
        self._memory.write(self._store, data, at)

    def _word(self, at: int) -> int:
        return int.from_bytes(self._memory.read(self._store, at, at + 4), "little")


def encoded(text: str) -> bytes:
    """Return text as UTF-8; a lone surrogate, which can only stand in a string of the code, as its escape."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(each):04x}" if 0xD800 <= ord(each) < 0xE000 else each for each in text).encode()


def _allow_stack(config: wasmtime.Config, size: int) -> None:
    """Allow a deeper stack than two megabytes: no stack may be larger than that of an asynchronous call, and the limit
    for those has no public name."""
    set_limit = wasmtime._bindings.wasmtime_config_async_stack_size_set  # noqa: SLF001 # pyright: ignore
    set_limit(config.ptr(), size)
    config.max_wasm_stack = size
