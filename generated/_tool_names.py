"""Full names of tools: `server__tool`."""

from __future__ import annotations

from typing import List, Optional, Tuple

from ._settings import known_tools
from ._values import ToolError


def split_name(name: str) -> Tuple[str, str]:
    """Server and tool. Split at the first `__`, unless the package knows a server and a tool that fit another one."""
    if not isinstance(name, str):
        raise TypeError(f"A tool is called by its name, server__tool; found {type(name).__name__}.")
    splits = [(name[:at], name[at + 2 :]) for at in range(1, len(name) - 2) if name[at : at + 2] == "__"]
    if not splits:
        raise ToolError(f"{name!r} is no full name of a tool. Call it as server__tool, such as github__star_repo.", code="tool_not_found")
    if len(splits) == 1:
        return splits[0]
    return _known_split(splits) or splits[0]


def _known_split(splits: List[Tuple[str, str]]) -> Optional[Tuple[str, str]]:
    servers = dict(known_tools())
    whole = (split for split in splits if split[1] in servers.get(split[0], ()))
    return next(whole, None) or next((split for split in splits if split[0] in servers), None)
