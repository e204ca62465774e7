"""MCP tools as Python functions, written by Notebridge.

    from generated.mcp.github import star_repo
    await star_repo(owner="x", repo="y")      # or, without await: star_repo.sync(owner="x", repo="y")

`search("what it should do")` finds tools, `help(generated.mcp)` lists the servers, `help(generated.mcp.<server>)` the tools
of one, `help(star_repo)` shows one. A tool that fails raises `ToolError`. After the tools have changed,
`importlib.reload(generated)` shows the new ones.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, List

if TYPE_CHECKING:
    from . import client as client
    from . import mcp as mcp
    from . import servers as servers
    from ._aliases import *
    from ._search import search as search
    from .client import Audio as Audio
    from .client import Blob as Blob
    from .client import Image as Image
    from .client import Progress as Progress
    from .client import ToolError as ToolError
    from .client import ToolResult as ToolResult
    from .client import call_tool as call_tool
    from .client import configure as configure
    from .client import http_call_tool as http_call_tool
    from .client import set_tool_caller as set_tool_caller

_MODULES = ("client", "mcp", "servers", "skills")
_FROM_CLIENT = (
    "Audio",
    "Blob",
    "Image",
    "Progress",
    "ToolError",
    "ToolResult",
    "call_tool",
    "configure",
    "http_call_tool",
    "set_tool_caller",
)

__all__ = [
    "Audio",
    "Blob",
    "Image",
    "Progress",
    "ToolError",
    "ToolResult",
    "call_tool",
    "client",
    "configure",
    "http_call_tool",
    "mcp",
    "search",
    "servers",
    "set_tool_caller",
]

# The package may be a link to a folder of this version. A program that imported it keeps this whole version until a reload.
__path__ = [os.path.realpath(folder) for folder in __path__]


if not TYPE_CHECKING:
    # Checkers know all names from above, so that they report unknown ones.

    def __getattr__(name):
        if name in _MODULES:
            try:
                return importlib.import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        elif name in _FROM_CLIENT:
            return getattr(importlib.import_module(f"{__name__}.client"), name)
        elif name == "search":
            return importlib.import_module(f"{__name__}._search").search
        elif "__" in name.strip("_"):
            return importlib.import_module(f"{__name__}._names").find_alias(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    from ._names import aliases

    return sorted({*__all__, *aliases(), *(name for name in globals() if name.startswith("__"))})


def _reload() -> None:
    from ._names import forget

    forget()
    importlib.invalidate_caches()
    for name in ("mcp", "servers"):
        module = sys.modules.get(f"{__name__}.{name}")
        if module is not None:
            importlib.reload(module)


# Set already: this is a reload.
if f"{__name__}.mcp" in sys.modules or f"{__name__}.servers" in sys.modules:
    _reload()
