"""How generated functions call: through the caller that was set, the kernel of the built-in notebook, or over HTTP to the hub."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Awaitable, Callable, ContextManager, Mapping, Optional, Union, cast

from . import _conversation
from ._progress import Listener, listener_of
from ._values import Progress, ToolError, ToolResult

if TYPE_CHECKING:
    from ._conversation import Conversation

#: Takes `server__tool` and the arguments, and returns the result or an awaitable of it.
ToolCaller = Callable[[str, Mapping[str, Any]], Any]
#: True shows the progress in the notebook or on the terminal.
OnProgress = Union[Callable[[Progress], object], bool, None]

_IN_BROWSER = sys.platform == "emscripten"
_caller: Optional[ToolCaller] = None


def set_tool_caller(caller: Optional[ToolCaller]) -> None:
    """Routes all calls through `caller(tool_name, arguments)`, which may be async; None restores the default."""
    global _caller
    if caller is not None and not callable(caller):
        raise TypeError(f"A tool caller is called with a tool's name and its arguments; {type(caller).__name__} cannot be called.")
    _caller = caller


async def call(
    server: str, tool: str, arguments: Mapping[str, Any], *, on_progress: OnProgress = None, timeout: Optional[float] = None
) -> ToolResult:
    """Calls a tool. `timeout`: in seconds; default that of `configure`. Raises `ToolError`."""
    if _caller is not None:
        from ._caller import ask_caller, from_caller

        given = ask_caller(_caller, server, tool, arguments)
        return from_caller(await given if hasattr(given, "__await__") else given, server, tool)
    channel = _kernel_channel()
    if channel is not None:
        from ._kernel import call_in_kernel

        with _listening(on_progress, tool) as listener:
            return await call_in_kernel(channel, server, tool, arguments, listener, timeout)
    return await http_call(server, tool, arguments, on_progress=on_progress, timeout=timeout)


def call_sync(
    server: str, tool: str, arguments: Mapping[str, Any], *, on_progress: OnProgress = None, timeout: Optional[float] = None
) -> ToolResult:
    """As `call`, but blocks. Works inside a running event loop, whose other tasks pause meanwhile."""
    if _caller is not None:
        from ._caller import ask_caller, from_caller

        given = ask_caller(_caller, server, tool, arguments)
        return from_caller(finish(given) if hasattr(given, "__await__") else given, server, tool)
    channel = _kernel_channel()
    if channel is not None:
        from ._kernel import call_in_kernel_sync

        with _listening(on_progress, tool) as listener:
            return call_in_kernel_sync(channel, server, tool, arguments, listener, timeout, _hear_here)
    return http_call_sync(server, tool, arguments, on_progress=on_progress, timeout=timeout)


def ask_hub(what: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Asks the hub itself, whoever calls tools, and blocks."""
    channel = _kernel_channel()
    if channel is None:
        return http_call_sync("", what, arguments)
    from ._kernel import call_in_kernel_sync

    return call_in_kernel_sync(channel, "", what, arguments, None, None, _hear_here)


async def http_call(
    server: str, tool: str, arguments: Mapping[str, Any], *, on_progress: OnProgress = None, timeout: Optional[float] = None
) -> ToolResult:
    """Calls a tool over HTTP, even if a caller was set."""
    listener = listener_of(on_progress, tool)
    conversation = _conversation.begin(server, tool, arguments, streams=listener is not None, timeout=timeout)
    if _IN_BROWSER:
        from ._fetch import lead_by_fetch as lead
    else:
        from ._workers import lead_in_thread as lead
    if listener is None:
        return await lead(conversation)
    with listener:
        return await lead(conversation, listener.hear)


def http_call_sync(
    server: str, tool: str, arguments: Mapping[str, Any], *, on_progress: OnProgress = None, timeout: Optional[float] = None
) -> ToolResult:
    """As `http_call`, but blocks."""
    if _IN_BROWSER:
        result: ToolResult = finish(http_call(server, tool, arguments, on_progress=on_progress, timeout=timeout))
        return result
    listener = listener_of(on_progress, tool)
    conversation = _conversation.begin(server, tool, arguments, streams=listener is not None, timeout=timeout)
    from ._interrupts import interruptible

    if listener is None:
        with interruptible():
            return _lead_here(conversation, None)
    with listener, interruptible():
        return _lead_here(conversation, listener)


def _kernel_channel() -> Any:
    if not _IN_BROWSER:
        return None
    from ._kernel import kernel_channel

    return kernel_channel()


def _listening(on_progress: OnProgress, tool: str) -> "ContextManager[Optional[Listener]]":
    listener = listener_of(on_progress, tool)
    return nullcontext() if listener is None else listener


def _lead_here(conversation: "Conversation", listener: Optional[Listener]) -> ToolResult:
    from ._http import Control, lead

    if listener is None:
        return lead(conversation, Control())
    return lead(conversation, Control(), lambda line: _hear_here(listener, line))


def _hear_here(listener: Listener, line: bytes) -> None:
    given = listener.tell(line)
    if hasattr(given, "__await__"):
        finish(cast("Awaitable[Any]", given))


def finish(awaitable: Awaitable[Any]) -> Any:
    """Waits for an awaitable where there may be a running loop already."""
    if _IN_BROWSER:
        from ._fetch import wait_for

        return wait_for(awaitable)
    import asyncio
    import threading

    async def whole() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(whole())
    outcome: "list[Any]" = []
    failure: "list[BaseException]" = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(whole()))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, name="notebridge", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


__all__ = ["OnProgress", "ToolCaller", "ToolError", "call", "call_sync", "http_call", "http_call_sync", "set_tool_caller"]
