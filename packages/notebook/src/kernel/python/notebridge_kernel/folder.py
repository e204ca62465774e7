"""The notebook's folder, which the host reads for this Python: where it is, and what to say where it cannot be had."""

import errno
import os
import sys

#: Where it is; None if this Python was not given it.
_folder = None
_refusal = None

_READ_ONLY = (
    "The notebook's folder is read-only for this Python. Write below /tmp, which is kept in memory, or use a Python of your own that may write: "
    "notebridge notebook FILE.ipynb --kernel auto --files rw"
)
_NONE = (
    "Code in this notebook reaches no files of this machine. The notebook's folder can be read with: "
    "notebridge notebook FILE.ipynb --kernel pyodide --files ro"
)


def connect(folder, refusal):
    """Code begins in there, and finds modules there last. `refusal(path)` is why the host refused a path below it, if it said so."""
    global _folder, _refusal
    _folder, _refusal = folder, refusal
    os.chdir(folder)
    sys.path.append(folder)


def advise(error):
    """Adds to the error of a file what would help."""
    if not isinstance(error, OSError) or getattr(error, "__notes__", None):
        return
    note = _note(error)
    if note:
        error.add_note(note)


def _note(error):
    try:
        path = os.path.abspath(os.fsdecode(error.filename))
    except (TypeError, ValueError):
        return None
    if _folder is None:
        is_own = path.startswith(("/lib/", "/tmp/", "/dev/", "/proc/"))
        return _NONE if error.errno == errno.ENOENT and not is_own else None
    if path != _folder and not path.startswith(f"{_folder}/"):
        return None
    if why := _refusal(path[len(_folder) + 1 :]):
        return f"{os.path.basename(path)} {why}."
    return _READ_ONLY if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else None
