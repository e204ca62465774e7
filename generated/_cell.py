"""Which cell calls: the host asks whoever has it run, if a server wants to know something in the middle of the call."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from typing import Any, Optional

_WANTED = "NOTEBRIDGE_NAMES_CELLS" in os.environ


def current_cell() -> Optional[str]:
    """The id of the request that runs this code; None where that cannot be told, as in a thread of its own.

    From ipykernel 7 on it is kept for each task, so that one that outlives its cell is not taken for the next. Before, it is not, and
    nothing is said.
    """
    if not _WANTED:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    parent: Any = getattr(getattr(shell, "kernel", None), "_shell_parent", None)
    if not isinstance(parent, ContextVar):
        return None
    message = parent.get(None)
    cell = message.get("header", {}).get("msg_id") if isinstance(message, dict) else None
    return cell if isinstance(cell, str) and cell.isalnum() and cell.isascii() else None
