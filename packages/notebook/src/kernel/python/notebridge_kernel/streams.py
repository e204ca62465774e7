"""stdout and stderr: text that reaches the worker with every write. The worker gathers it, so nothing waits in here."""

import io
import sys


_before_write = None


def install(before_write):
    """`before_write()` is called in the context of the code that writes."""
    global _before_write
    _before_write = before_write
    sys.stdout = _open(1, "<stdout>")
    sys.stderr = _open(2, "<stderr>")


def flush():
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        try:
            stream.flush()
        except BaseException:
            # Closed by a cell, or replaced by something that is no stream, whatever that raises: the next cell can print again.
            setattr(sys, name, _open(descriptor, f"<{name}>"))


class _Descriptor(io.FileIO):
    def write(self, data):
        _before_write()
        return super().write(data)


def _open(descriptor, name):
    raw = _Descriptor(descriptor, "w", closefd=False)
    raw.name = name
    # backslashreplace: half a surrogate pair is shown, not an error in the middle of a print.
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True)
