"""Calls the tools of a Notebridge hub.

    from generated.mcp.github import star_repo
    await star_repo(owner="x", repo="y")

is the way to call a tool; here is what stands around it: `configure` says which hub, `call_tool` calls by name, `ToolError` is how
calls fail.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

from . import _calls
from ._calls import OnProgress, ToolCaller, set_tool_caller
from ._tool_names import split_name
from ._progress import show_progress
from ._settings import configure
from ._values import Audio, Blob, Image, Progress, ResourceLink, ToolError, ToolResult

__all__ = [
    "Audio",
    "Blob",
    "Image",
    "OnProgress",
    "Progress",
    "ResourceLink",
    "ToolCaller",
    "ToolError",
    "ToolResult",
    "call_tool",
    "call_tool_sync",
    "configure",
    "http_call_tool",
    "set_tool_caller",
    "show_progress",
]


async def call_tool(
    tool_name: str, arguments: Optional[Mapping[str, Any]] = None, *, on_progress: OnProgress = None, timeout: Optional[float] = None
) -> Any:
    """Calls a tool by its full name, `server__tool`.

    Args:
        tool_name: Such as `github__star_repo`.
        arguments: The tool's arguments.
        on_progress: Called with each `Progress` of the tool, or True to show it.
        timeout: In seconds.

    Raises:
        ToolError: The call failed; the text says why and what to do.
    """
    server, tool = split_name(tool_name)
    return (await _calls.call(server, tool, arguments or {}, on_progress=on_progress, timeout=timeout)).value


def call_tool_sync(
    tool_name: str, arguments: Optional[Mapping[str, Any]] = None, *, on_progress: OnProgress = None, timeout: Optional[float] = None
) -> Any:
    """As `call_tool`, without `await`."""
    server, tool = split_name(tool_name)
    return _calls.call_sync(server, tool, arguments or {}, on_progress=on_progress, timeout=timeout).value


async def http_call_tool(
    server: str,
    tool: str,
    arguments: Optional[Mapping[str, Any]] = None,
    *,
    on_progress: OnProgress = None,
    timeout: Optional[float] = None,
) -> Any:
    """Calls a tool over HTTP, also where `set_tool_caller` has set another way."""
    return (await _calls.http_call(server, tool, arguments or {}, on_progress=on_progress, timeout=timeout)).value
