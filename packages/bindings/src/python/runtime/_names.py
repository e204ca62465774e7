"""The other spelling of tools: `generated.<server>__<tool>`."""

from __future__ import annotations

import importlib
import json
import os
from typing import Any, Dict, List, Optional, Tuple

_PACKAGE = __name__.rpartition(".")[0]

#: Server and tool, as Python has them, by the spelling. None until they are asked for.
_aliases: Optional[Dict[str, List[Tuple[str, str]]]] = None


def aliases() -> Dict[str, List[Tuple[str, str]]]:
    """All spellings, and what each may mean."""
    global _aliases
    if _aliases is None:
        found: Dict[str, List[Tuple[str, str]]] = {}
        for server in manifest()["servers"]:
            for tool in server["tools"]:
                found.setdefault(f"{server['python']}__{tool['python']}", []).append((server["python"], tool["python"]))
        _aliases = found
    return _aliases


def find_alias(name: str) -> Any:
    """The function of this spelling. Raises AttributeError if there is none, or if it is ambiguous."""
    meant = aliases().get(name, [])
    if len(meant) == 1:
        server, tool = meant[0]
        return getattr(importlib.import_module(f"{_PACKAGE}.mcp.{server}"), tool)
    if meant:
        ways = " or ".join(f"`from {_PACKAGE}.mcp.{server} import {tool}`" for server, tool in meant)
        raise AttributeError(f"{name!r} may mean several tools: use {ways}")
    from ._package import is_newer

    server, _, tool = name.partition("__")
    if is_newer(f"{_PACKAGE}.mcp.{server}", tool):
        raise AttributeError(
            f"module {_PACKAGE!r} has no attribute {name!r}: it is newer than what was imported. "
            f"`importlib.reload({_PACKAGE})` takes the package as it is now"
        )
    from difflib import get_close_matches

    close = get_close_matches(name, aliases(), 1, 0.6)
    advice = f". Did you mean {close[0]!r}?" if close else ""
    raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}{advice}")


def forget() -> None:
    """Reads the names anew when they are next asked for."""
    global _aliases
    _aliases = None


def manifest() -> Dict[str, Any]:
    """What the package was made from."""
    return dict(read_json("_manifest.json"))


def read_json(file: str) -> Any:
    """A file of the package, in the version that was imported."""
    folder = importlib.import_module(_PACKAGE).__path__[0]
    with open(os.path.join(folder, file), encoding="utf-8") as opened:
        return json.load(opened)
