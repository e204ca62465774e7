"""What a notebook shows of a call that failed: the lines of the person's own code, and the reason. The frames of this package tell nothing."""

from __future__ import annotations

import linecache
import traceback
from typing import Any, List

_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[39m"
#: What runs the cells of a notebook, and this package: by name, since its files may be those of two versions.
_MACHINERY = ("IPython", "ipykernel", "asyncio", "notebridge_kernel", "_pyodide", "pyodide", __name__.split(".")[0])


def render(error: BaseException) -> List[str]:
    """As IPython takes it from an error's `_render_traceback_`."""
    name = type(error).__name__
    steps = traceback.walk_tb(error.__traceback__)
    modules = [str(frame.f_globals.get("__name__")).split(".")[0] for frame, _ in steps]
    frames = [shown for shown, module in zip(traceback.extract_tb(error.__traceback__), modules) if module not in _MACHINERY]
    closing = f"{_RED}{name}{_PLAIN}: {error}"
    if not frames:
        return [closing]
    head = f"{_RED}{name}{_PLAIN}{'Traceback (most recent call last)':>{max(75 - len(name), 34)}}"
    return [f"{_RED}{'-' * 75}{_PLAIN}", head, *(_show(frame) for frame in frames), closing]


def _show(frame: traceback.FrameSummary) -> str:
    number = frame.lineno or 0
    place = f"{_GREEN}{_name_of(frame.filename)}, line {number}{_PLAIN}"
    head = place if frame.name == "<module>" else f"{place}, in {frame.name}"
    line = linecache.getline(frame.filename, number).rstrip("\n")
    return f"{head}\n{_GREEN}{'-' * max(1, 5 - len(str(number)))}> {number}{_PLAIN} {line}"


def _name_of(file: str) -> str:
    """IPython gives each cell the name of a file that is not there."""
    try:
        shell: Any = __import__("IPython").get_ipython()
        return f"Cell In[{shell.compile._filename_map[file]}]"
    except Exception:
        return file
