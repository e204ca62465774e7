"""The transport in Notebridge's built-in notebook: its kernel's own messages, which need no address, no token and no network."""

from __future__ import annotations

import sys
from typing import Any, Callable, Mapping, NoReturn, Optional

from . import _errors, _settings
from ._conversation import Call
from ._json import encode, parse
from ._progress import Listener
from ._values import ToolError, ToolResult, from_answer

Hear = Callable[[Listener, bytes], None]


def kernel_channel() -> Any:
    """The channel of this kernel to the tools of its host; None if it has none."""
    tools = sys.modules.get("notebridge_kernel.tools")
    return None if tools is None else tools.channel()


async def call_in_kernel(
    channel: Any, server: str, tool: str, arguments: Mapping[str, Any], listener: Optional[Listener], timeout: Optional[float]
) -> ToolResult:
    """Calls a tool. When the task is cancelled, so is the call."""
    seconds, body = _seconds_of(timeout), encode(arguments, server, tool).decode("ascii")

    async def hear(line: str) -> None:
        if listener is not None:
            await listener.hear(line.encode("utf-8", "surrogatepass"))

    try:
        text = await channel.call(server, tool, body, None if listener is None else hear, seconds)
    except channel.TooLate:
        _raise_timeout(server, tool)
    return _to_result(text, server, tool)


def call_in_kernel_sync(
    channel: Any, server: str, tool: str, arguments: Mapping[str, Any], listener: Optional[Listener], timeout: Optional[float], tell: Hear
) -> ToolResult:
    """As `call_in_kernel`, but blocks. Everything else in this Python pauses meanwhile."""
    if not channel.can_wait:
        message = "This Python cannot wait without await. Call the tool with await: `await tool(...)` instead of `tool.sync(...)`."
        raise ToolError(message, server=server, tool=tool, code="needs_await")
    seconds, body = _seconds_of(timeout), encode(arguments, server, tool).decode("ascii")

    def hear(line: str) -> None:
        if listener is not None:
            tell(listener, line.encode("utf-8", "surrogatepass"))

    try:
        text = channel.call_sync(server, tool, body, None if listener is None else hear, seconds)
    except channel.TooLate:
        _raise_timeout(server, tool)
    return _to_result(text, server, tool)


def _seconds_of(timeout: Optional[float]) -> float:
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    return _settings.default_timeout() if timeout is None else timeout


def _to_result(text: str, server: str, tool: str) -> ToolResult:
    answer = parse(text)
    if not isinstance(answer, dict):
        message = f"{tool} ({server}): The notebook's host gave no answer that could be read."
        raise ToolError(message, server=server, tool=tool, code="bad_answer")
    if answer.get("success") is True:
        return from_answer(answer)
    _errors.raise_failed(Call(server, tool, b"", "", False, None), answer)


def _raise_timeout(server: str, tool: str) -> NoReturn:
    text = "No answer in time; the call was cancelled. Whether the tool had an effect is unknown. Allow more time: timeout=SECONDS."
    raise ToolError(f"{tool} ({server}): {text}", server=server, tool=tool, code="timeout") from None
