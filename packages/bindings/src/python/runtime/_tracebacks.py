"""What a notebook shows of a call that failed: the lines of the person's own code, and the reason. The frames of this package tell nothing."""

from __future__ import annotations

import linecache
import os
import traceback
from typing import Any, List

_RED, _GREEN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[39m"
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: What runs the cells of a notebook.
_MACHINERY = ("IPython", "ipykernel", "asyncio", "notebridge_kernel", "_pyodide", "pyodide")


def render(error: BaseException) -> List[str]:
    """As IPython takes it from an error's `_render_traceback_`."""
    name = type(error).__name__
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_of_person(frame.filename)]
    closing = f"{_RED}{name}{_PLAIN}: {error}"
    if not frames:
        return [closing]
    head = f"{_RED}{name}{_PLAIN}{'Traceback (most recent call last)':>{max(75 - len(name), 34)}}"
    return [f"{_RED}{'-' * 75}{_PLAIN}", head, *(_show(frame) for frame in frames), closing]


def _is_of_person(file: str) -> bool:
    if file.startswith(_PACKAGE) or os.path.realpath(file).startswith(_PACKAGE):
        return False
    return not any(part in _MACHINERY for part in file.replace("\\", "/").split("/"))


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
