"""What a generated tool is: a function that sends its arguments to the hub.

A generated module writes the tool as a plain `async def` with the tool's parameters, types and documentation, and
`tool_function` makes a `ToolFunction` of it. The body never runs.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Coroutine,
    Dict,
    Generic,
    List,
    Mapping,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from ._typing import ParamSpec

if TYPE_CHECKING:
    import inspect

    from ._values import Progress, ToolResult

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

if not TYPE_CHECKING:
    # Loaded with the first call, not before.
    Progress = Any

#: Called with each `Progress` of the tool; or True to show it in the notebook or on the terminal.
OnProgress = Union[Callable[[Progress], object], bool, None]

#: Our keywords beside the tool's own parameters. If the tool has one of the same name, the tool's wins.
_OPTIONS = ("on_progress", "timeout")
_VARIABLE_KEYWORDS = 0x08


class _Unset:
    def __repr__(self) -> str:
        return "..."


#: Stands for "not given": the parameter is not sent, as if it had been left out.
UNSET: Any = _Unset()


def default(value: object) -> Any:
    """A default as the tool's schema has it. It is shown, and never sent: the server fills in omitted arguments."""
    return value


def tool_function(
    server: str, tool: str, wire_names: Optional[Mapping[str, str]] = None
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], ToolFunction[P, R]]:
    """Makes a function of the package of a tool's signature.

    Args:
        server: The server's name, as the hub has it.
        tool: The tool's name, as the server has it.
        wire_names: The tool's own names of the parameters that have another one in Python. A parameter of ours (`timeout`)
            that stands here is the tool's.
    """

    def decorate(function: Callable[P, Coroutine[Any, Any, R]]) -> ToolFunction[P, R]:
        return ToolFunction(_Declaration(function, server, tool, wire_names or {}))

    return decorate


class _Declaration:
    """A tool's signature, and what follows from it: which arguments a call may have, and must."""

    def __init__(self, function: Callable[..., Any], server: str, tool: str, wire_names: Mapping[str, str]) -> None:
        code = function.__code__
        names = code.co_varnames[: code.co_kwonlyargcount]
        self.function = function
        self.server = server
        self.tool = tool
        self.name: str = function.__name__
        self.options = tuple(name for name in _OPTIONS if name in names and name not in wire_names)
        #: The tool's own parameters: name in Python -> on the wire.
        self.parameters: Dict[str, str] = {name: wire_names.get(name, name) for name in names if name not in self.options}
        self.wires = frozenset(self.parameters.values())
        optional = function.__kwdefaults__ or {}
        self.required = [name for name in self.parameters if name not in optional]
        #: Whether the tool takes arguments that its schema does not name.
        self.is_open = bool(code.co_flags & _VARIABLE_KEYWORDS)

    def bind(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The arguments by their names on the wire, and the options. Raises TypeError before anything is sent."""
        options = {name: kwargs.pop(name) for name in self.options if name in kwargs}
        arguments: Dict[str, Any] = {}
        for given in (self._whole(args, kwargs), kwargs):
            for key, value in given.items():
                wire = self._wire_name(key)
                if value is UNSET:
                    arguments.pop(wire, None)
                else:
                    arguments[wire] = value
        missing = [name for name in self.required if self.parameters[name] not in arguments]
        if missing:
            self._refuse_missing(missing)
        return arguments, options

    def _whole(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Mapping[Any, Any]:
        """The dict of the forms `f({...})` and `f(arguments={...})`."""
        dicts = list(args)
        if "arguments" in kwargs and "arguments" not in self.parameters:
            dicts.append(kwargs.pop("arguments"))
        if not dicts or dicts == [None]:
            return {}
        if len(dicts) > 1:
            raise TypeError(f"{self} takes its arguments by name, or as one dict, but {len(dicts)} positional arguments were given")
        if not isinstance(dicts[0], Mapping):
            example = next(iter(self.parameters), "name")
            raise TypeError(
                f"{self} takes its arguments by name: {self.name}({example}=...). A single positional argument has to be a dict "
                f"of arguments, not {type(dicts[0]).__name__}"
            )
        return dicts[0]

    def _wire_name(self, key: Any) -> str:
        # The name on the wire comes first: another parameter's name in Python may be the same.
        if key in self.wires:
            return str(key)
        wire = self.parameters.get(key)
        if wire is not None:
            return wire
        if not isinstance(key, str):
            raise TypeError(f"{self} takes a dict with the names of arguments as its keys, not {key!r}")
        if not self.is_open:
            self._refuse_unknown(key)
        return key

    def _refuse_unknown(self, key: str) -> NoReturn:
        from difflib import get_close_matches

        known = [*self.parameters, *self.options]
        close = get_close_matches(key, known, 1, 0.6) or get_close_matches(key.lower(), [name.lower() for name in known], 1, 0.6)
        meant = next((name for name in known if close and name.lower() == close[0].lower()), None)
        if meant:
            advice = f". Did you mean {meant!r}?"
        elif self.parameters:
            names = list(self.parameters)
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            advice = f". It takes: {shown}"
        else:
            advice = ". It takes no arguments"
        raise TypeError(f"{self} got an unexpected keyword argument {key!r}{advice}")

    def _refuse_missing(self, missing: List[str]) -> NoReturn:
        quoted = [repr(name) for name in missing]
        listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
        plural = "" if len(quoted) == 1 else "s"
        raise TypeError(f"{self} missing {len(quoted)} required keyword-only argument{plural}: {listed}")

    def signature(self, returns: object = None) -> inspect.Signature:
        """The signature as people read it: types without quotes."""
        from inspect import Parameter, Signature, signature

        written = signature(self.function)
        parameters = [
            parameter if parameter.annotation is Parameter.empty else parameter.replace(annotation=_Annotation(parameter.annotation))
            for parameter in written.parameters.values()
        ]
        return Signature(parameters, return_annotation=_Annotation(returns or written.return_annotation))

    def __str__(self) -> str:
        return f"{self.function.__module__.split('.')[-2]}.{self.name}()"


class _Annotation(str):
    """The text of a type, which prints as it is."""

    def __repr__(self) -> str:
        return str(self)


class _SignatureOfInstances:
    """`__signature__` of functions, and not of their class."""

    def __get__(self, instance: Optional[CallForm[Any, Any]], owner: object = None) -> Any:
        if instance is None:
            raise AttributeError("__signature__")
        return instance._signature()


class CallForm(Generic[P, T]):
    """One way to call a tool: `f(a=1, b=2)`, `f({"a": 1, "b": 2})`, `f({"a": 1}, b=2)` or `f(arguments={"a": 1, "b": 2})`.

    Parameters that are left out are not sent, so the server's own default holds; `None` is sent as null. What stands twice
    counts as it was given by name. A dict has the tool's own names, or those in Python.
    """

    __signature__: Any = _SignatureOfInstances()

    def __init__(self, declaration: _Declaration, send: Callable[..., T], suffix: str = "", returns: object = None) -> None:
        function = declaration.function
        self._declaration = declaration
        self._send = send
        self._returns = returns
        self.__wrapped__ = function
        self.__module__ = function.__module__
        self.__name__ = declaration.name
        self.__qualname__ = declaration.name + suffix
        self.__doc__ = function.__doc__
        self.__annotations__ = function.__annotations__

    if TYPE_CHECKING:

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T: ...
        @overload
        def __call__(self, arguments: Optional[Mapping[str, Any]], /, **more: Any) -> T: ...
        @overload
        def __call__(self, *, arguments: Optional[Mapping[str, Any]], **more: Any) -> T: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...  # type: ignore[misc]  # `self` may be a parameter of the tool

    else:

        def __call__(self, /, *args, **kwargs):
            arguments, options = self._declaration.bind(args, kwargs)
            return self._send(self._declaration, arguments, **options)

    def __get__(self, instance: object, owner: object = None) -> CallForm[P, T]:
        # With this, `help`, `inspect.isroutine` and editors take it for what it is: a function. It has no self to bind.
        return self

    def __repr__(self) -> str:
        return f"<MCP tool {self._declaration.server}/{self._declaration.tool}: {self.__qualname__}{self._signature()}>"

    def _signature(self) -> inspect.Signature:
        return self._declaration.signature(self._returns)


class ToolFunction(CallForm[P, Coroutine[Any, Any, R]], Generic[P, R]):
    """A tool as a function: `await f(...)` gives its value. `f.sync`, `f.raw` and `f.raw_sync` take the same arguments."""

    def __init__(self, declaration: _Declaration) -> None:
        super().__init__(declaration, _send)

    @property
    def server(self) -> str:
        """The server's name, as the hub has it."""
        return self._declaration.server

    @property
    def tool(self) -> str:
        """The tool's name, as the server has it."""
        return self._declaration.tool

    @cached_property
    def sync(self) -> CallForm[P, R]:
        """Waits for the value, without `await`: `f.sync(...)`."""
        return CallForm(self._declaration, _send_sync, ".sync")

    @cached_property
    def raw(self) -> CallForm[P, Coroutine[Any, Any, ToolResult]]:
        """The whole result: its blocks, structured content and metadata: `await f.raw(...)`."""
        return CallForm(self._declaration, _send_raw, ".raw", "ToolResult")

    @cached_property
    def raw_sync(self) -> CallForm[P, ToolResult]:
        """Waits for the whole result, without `await`: `f.raw_sync(...)`."""
        return CallForm(self._declaration, _send_raw_sync, ".raw_sync", "ToolResult")

    @property
    def _is_coroutine_marker(self) -> object:
        # What `inspect.iscoroutinefunction` looks for, from Python 3.12 on.
        return getattr(sys.modules.get("inspect"), "_is_coroutine_mark", None)

    @property
    def _is_coroutine(self) -> object:
        # What `asyncio.iscoroutinefunction` looks for.
        return getattr(sys.modules.get("asyncio.coroutines"), "_is_coroutine", None)

    def __reduce__(self) -> str:
        # Copied and pickled by name, as functions are.
        return self.__name__


def _send(tool: _Declaration, arguments: Dict[str, Any], **options: Any) -> Coroutine[Any, Any, Any]:
    return _named(tool, _value_of(_send_raw(tool, arguments, **options)))


async def _value_of(result: Coroutine[Any, Any, ToolResult]) -> Any:
    return (await result).value


def _send_raw(tool: _Declaration, arguments: Dict[str, Any], **options: Any) -> Coroutine[Any, Any, ToolResult]:
    # Here and not above: importing a function must not load what only calls need.
    from ._calls import call

    return _named(tool, call(tool.server, tool.tool, arguments, **options))


def _send_sync(tool: _Declaration, arguments: Dict[str, Any], **options: Any) -> Any:
    return _send_raw_sync(tool, arguments, **options).value


def _send_raw_sync(tool: _Declaration, arguments: Dict[str, Any], **options: Any) -> ToolResult:
    from ._calls import call_sync

    return call_sync(tool.server, tool.tool, arguments, **options)


def _named(tool: _Declaration, coroutine: T) -> T:
    """So that "coroutine 'star_repo' was never awaited" says which."""
    writable: Any = coroutine
    writable.__name__ = writable.__qualname__ = tool.name
    return coroutine
