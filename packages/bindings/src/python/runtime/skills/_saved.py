"""Runs the code of saved skills, here and now: with the rights, the calls and the time of the code that asks."""

from __future__ import annotations

import ast
import contextvars
import inspect
import io
import keyword
import linecache
import sys
import traceback
from types import CodeType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, cast

from .._calls import finish
from .._values import ToolError

#: Of run_skill_script: the name and code of a saved skill.
SAVED_SKILL_KEY = "notebridge/saved_skill"

_RESULT = "_notebridge_result"
_prints: "contextvars.ContextVar[Optional[Tuple[io.StringIO, io.StringIO]]]" = contextvars.ContextVar("prints", default=None)


class _Failed(Dict[str, Any]):
    """What came of a skill that failed: it has no result, and who reads that is told why."""

    def __missing__(self, key: str) -> Any:
        if key != "result":
            raise KeyError(key)
        raise ToolError(f"The skill failed, so it has no result: {self['error']}\n{self['output']}".rstrip(), code="skill_failed")


async def check(name: str, code: str, tests: str) -> None:
    """Compiles the code, and runs its tests: they have it as `skill`. Raises what the tests raise, also where they end themselves."""
    _compile(code, name)

    async def skill(*args: Any, **kwargs: Any) -> Any:
        return await _execute(code, name, _variables(args, kwargs))

    try:
        await _execute(tests, f"tests of {name}", {"skill": skill})
    except SystemExit as end:
        raise AssertionError("the code or its tests ended itself (SystemExit), so what follows was not tested") from end


async def run(saved: Mapping[str, Any], args: Optional[Sequence[Any]], kwargs: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """Runs it to its end. A skill that fails is a result, as with scripts; `result` is the value of its last expression."""
    name, code = str(saved.get("name")), str(saved.get("code"))
    variables = _variables(args or (), kwargs or {})
    prints = (io.StringIO(), io.StringIO())
    token = _prints.set(prints)
    value, error, exit_code = None, None, 0
    try:
        with _Capture():
            value = await _execute(code, name, variables)
    except SystemExit as end:
        exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as raised:
        error, exit_code = _described(raised, name), 1
    finally:
        _prints.reset(token)
    stdout, stderr = (each.getvalue() for each in prints)
    success = exit_code == 0
    failure = f"{error['name']}: {error['value']}" if error is not None else f"Script exited with code {exit_code}"
    told: Dict[str, Any] = {
        "success": success,
        "output": stdout if success else stderr or (error or {}).get("traceback") or stdout,
        "stdout": stdout,
        "stderr": stderr,
        "execution_ok": True,
        "execution_error": None,
        "code_error": error,
        "exit_code": exit_code,
        "error": None if success else failure,
    }
    return {**told, "result": value} if success else _Failed(told)


def run_sync(saved: Mapping[str, Any], args: Optional[Sequence[Any]], kwargs: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The same without `await`: code that waits for nothing needs no loop, which some Pythons cannot wait for."""
    running = run(saved, args, kwargs)
    if _waits(str(saved.get("code"))):
        done: Dict[str, Any] = finish(running)
        return done
    try:
        running.send(None)
    except StopIteration as end:
        return cast("Dict[str, Any]", end.value)
    raise AssertionError("code without await has waited")


def _waits(code: str) -> bool:
    try:
        return bool(_compile(code, "").co_flags & inspect.CO_COROUTINE)
    except SyntaxError:
        return False


def _variables(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Dict[str, Any]:
    for name in kwargs:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
            raise TypeError(f"{name!r} cannot be a variable of a skill")
    return {"args": list(args), "kwargs": dict(kwargs), **kwargs}


async def _execute(code: str, name: str, variables: Mapping[str, Any]) -> Any:
    namespace: Dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__, **variables}
    given = eval(_compile(code, name), namespace)
    if inspect.iscoroutine(given):
        await given
    return namespace.get(_RESULT)


def _compile(code: str, name: str) -> CodeType:
    filename = f"<skill {name}>"
    tree = ast.parse(code, filename)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        target = ast.copy_location(ast.Name(_RESULT, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    # Its lines are shown where it fails.
    linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
    compiled: CodeType = compile(ast.fix_missing_locations(tree), filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return compiled


def _described(raised: BaseException, name: str) -> Dict[str, str]:
    frames = traceback.extract_tb(raised.__traceback__)
    own = [at for at, frame in enumerate(frames) if frame.filename == f"<skill {name}>"]
    shown: List[traceback.FrameSummary] = frames[own[0] :] if own else frames
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(shown), *traceback.format_exception_only(type(raised), raised)]
    return {"name": type(raised).__name__, "value": str(raised), "traceback": "".join(lines)}


class _Capture:
    """What skills print is kept for them, of several at once for each; what others print goes where it went."""

    _open = 0
    _before: Tuple[Any, Any] = (None, None)

    def __enter__(self) -> None:
        if _Capture._open == 0:
            _Capture._before = (sys.stdout, sys.stderr)
            sys.stdout, sys.stderr = _Stream(0, sys.stdout), _Stream(1, sys.stderr)
        _Capture._open += 1

    def __exit__(self, *_: Any) -> None:
        _Capture._open -= 1
        if _Capture._open == 0:
            sys.stdout, sys.stderr = _Capture._before


class _Stream(io.TextIOBase):
    def __init__(self, index: int, before: Any) -> None:
        self._index = index
        self._before = before

    def write(self, text: str) -> int:
        prints = _prints.get()
        target = self._before if prints is None else prints[self._index]
        return int(target.write(text) or len(text))

    def flush(self) -> None:
        self._before.flush()

    def writable(self) -> bool:
        return True
