"""Progress of a running tool: passed to a function, or shown."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Callable, Optional, Type, Union

from ._json import parse
from ._values import Progress


class show_progress:
    """Shows the progress of calls: `await f(..., on_progress=show_progress("Copying"))`. With tqdm if it is installed."""

    def __init__(self, label: str = "") -> None:
        self.label = label
        #: A bar of tqdm; its truth value is undefined, so it is only compared with None.
        self._bar: Any = None
        self._has_begun = False
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._bar = _new_bar(self.label, progress.total)
        if self._bar is None:
            self._print(progress)
            return
        bar = self._bar
        if progress.total is not None and progress.total != bar.total:
            bar.total = progress.total
        if progress.message:
            bar.set_postfix_str(progress.message, refresh=False)
        bar.update(progress.progress - bar.n)
        bar.refresh()

    def on_log(self, level: str, data: Any) -> None:
        """Prints a line that the tool logged."""
        text = data if isinstance(data, str) else repr(data)
        if self._bar is not None:
            self._bar.write(f"{level}: {text}", file=sys.stderr)
        else:
            print(f"{level}: {text}", file=sys.stderr)

    def close(self) -> None:
        """Ends the line. It may be used for another call."""
        if self._bar is not None:
            self._bar.close()
        elif self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._bar, self._has_begun, self._width = None, False, 0

    def _print(self, progress: Progress) -> None:
        done = f"{progress.progress:g}" if progress.total is None else f"{progress.progress:g}/{progress.total:g}"
        text = " ".join(part for part in (self.label, done, progress.message) if part)
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)


class Listener:
    """Parses the lines of a stream and notifies a function. As a context, it closes the progress display."""

    def __init__(self, on_progress: Callable[[Progress], object]) -> None:
        self._on_progress = on_progress
        self._on_log: Optional[Callable[[str, Any], object]] = getattr(on_progress, "on_log", None)

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if isinstance(self._on_progress, show_progress):
            self._on_progress.close()

    def tell(self, line: bytes) -> object:
        """Calls the function; its result may be awaitable."""
        event = parse(line)
        kind = event.get("event") if isinstance(event, dict) else None
        if kind == "progress" and isinstance(event.get("progress"), (int, float)):
            total, message = event.get("total"), event.get("message")
            return self._on_progress(
                Progress(
                    event["progress"],
                    total if isinstance(total, (int, float)) else None,
                    message if isinstance(message, str) else None,
                )
            )
        if kind == "log" and self._on_log is not None:
            return self._on_log(str(event.get("level", "info")), event.get("data"))
        return None

    async def hear(self, line: bytes) -> None:
        """As `tell`, and awaits the result of the function."""
        given: Any = self.tell(line)
        if hasattr(given, "__await__"):
            await given


def listener_of(on_progress: Union[Callable[[Progress], object], bool, None], label: str) -> Optional[Listener]:
    """None without a listener: then the hub is not asked for progress."""
    if on_progress is None or on_progress is False:
        return None
    if on_progress is True:
        return Listener(show_progress(label))
    if not callable(on_progress):
        raise TypeError(f"on_progress must be a function that takes a Progress, or True; found {type(on_progress).__name__}.")
    return Listener(on_progress)


def _new_bar(label: str, total: Optional[float]) -> Any:
    """A bar of tqdm, for notebooks where we are in one; None without tqdm."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-not-found,import-untyped,unused-ignore]  # pyright: ignore
    except ImportError:
        return None
    return tqdm(desc=label or None, total=total)
