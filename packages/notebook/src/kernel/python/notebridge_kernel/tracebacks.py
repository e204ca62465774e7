"""Errors as IPython shows them, coloured by ANSI codes: each frame of the person's own code with the lines around."""

import itertools
import linecache
import traceback

from . import folder, packages
from .formats import clean

_RED, _GREEN, _CYAN, _MARK, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[43m", "\x1b[39m"
_UNMARK = "\x1b[49m"
_LINES_AROUND = 2
_MAX_FRAMES = 20
_MAX_ALIKE = 3
_MAX_VALUE = 20_000
_OURS = __file__.rpartition("/")[0]
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"


def describe(error):
    """The ename, evalue and traceback of an nbformat error output."""
    packages.advise(error)
    folder.advise(error)
    name = type(error).__name__
    value = clean(_text_of(error))[:_MAX_VALUE]
    try:
        lines = _own_lines(error) or _chain(traceback.TracebackException(type(error), error, error.__traceback__, lookup_lines=False))
    except BaseException:
        # An error that can't be described, whose own methods fail perhaps, still has a name.
        lines = [f"{_RED}{name}{_PLAIN}: {value}"]
    return {"ename": name, "evalue": value, "traceback": [clean(line) for line in lines]}


def _own_lines(error):
    """An error may show itself, as in IPython."""
    try:
        return [str(line) for line in error._render_traceback_()]
    except BaseException:
        return None


def _text_of(error):
    if isinstance(error, SyntaxError):
        return f"{error.msg} ({error.filename}, line {error.lineno})"
    try:
        return str(error)
    except BaseException:
        return f"<{type(error).__name__} whose text can't be had>"


def _chain(error):
    if error.__cause__ is not None:
        return [*_chain(error.__cause__), f"\n{_CAUSE}\n", *_one(error)]
    if error.__context__ is not None and not error.__suppress_context__:
        return [*_chain(error.__context__), f"\n{_CONTEXT}\n", *_one(error)]
    return _one(error)


def _one(error):
    name = error.exc_type_str.rpartition(".")[2]
    frames = _frames([frame for frame in error.stack if not frame.filename.startswith(_OURS)])
    if not frames:
        return [_closing(error, name)]
    head = f"{_RED}{name}{_PLAIN}{'Traceback (most recent call last)':>{max(75 - len(name), 34)}}"
    return [f"{_RED}{'-' * 75}{_PLAIN}", head, *frames, _closing(error, name)]


def _closing(error, name):
    """The last lines, with the caret of a SyntaxError, notes, and the errors of a group."""
    text = "".join(error.format_exception_only(show_group=True)).rstrip("\n")
    lines = [_shorten_file_line(line) for line in text.split("\n")]
    for index, line in enumerate(lines):
        if line.startswith((f"{error.exc_type_str}", name)):
            lines[index] = f"{_RED}{name}{_PLAIN}{line.removeprefix(error.exc_type_str).removeprefix(name)}"
            break
    return "\n".join(lines)[:_MAX_VALUE]


def _shorten_file_line(line):
    if not line.startswith('  File "<cell '):
        return line
    return line.replace('  File "', f"  {_GREEN}", 1).replace('", line', " line", 1) + _PLAIN


def _frames(stack):
    """One text for each frame of the person's; neighbours from libraries share a line, and so do those of a recursion."""
    texts = []
    for (place, _), group in itertools.groupby(stack, key=_group):
        frames = list(group)
        if place == "library":
            texts.append(_library_line(frames))
        elif len(frames) > _MAX_ALIKE:
            texts += [frames[0], f"[... skipping {len(frames) - 2} similar frames]", frames[-1]]
        else:
            texts += frames
    if len(texts) > _MAX_FRAMES:
        skipped = len(texts) - _MAX_FRAMES
        texts[_MAX_FRAMES // 2 : -_MAX_FRAMES // 2] = [f"[... skipping {skipped} frames]"]
    return [text if isinstance(text, str) else _frame(text) for text in texts]


def _group(frame):
    return ("library", None) if _is_library(frame.filename) else (frame.filename, frame.lineno)


def _is_library(file_name):
    """All but cells and the person's own files; JavaScript's frames have URLs for names."""
    return not file_name.startswith(("<cell ", "/")) or file_name.startswith("/lib/")


def _library_line(frames):
    last = frames[-1]
    more = f" (and {len(frames) - 1} more)" if len(frames) > 1 else ""
    return f"{_CYAN}File {last.filename} line {last.lineno}, in {last.name}{_PLAIN}{more}"


def _frame(frame):
    place = f"{_GREEN}{frame.filename} line {frame.lineno}{_PLAIN}"
    head = place if frame.name == "<module>" else f"{place}, in {_CYAN}{frame.name}{_PLAIN}"
    lines = linecache.getlines(frame.filename)
    first = max(frame.lineno - _LINES_AROUND, 1)
    shown = enumerate(lines[first - 1 : frame.lineno + _LINES_AROUND], first)
    return "\n".join([head, *(_line(frame, number, text.rstrip("\n")) for number, text in shown)])


def _line(frame, number, text):
    if number != frame.lineno:
        return f"{_GREEN}{number:7}{_PLAIN} {text}"
    return f"{_GREEN}{'-' * (5 - len(str(number)))}> {number}{_PLAIN} {_marked(frame, text)}"


def _marked(frame, text):
    """Marks the expression that failed, where Python knows it, it stands on one line and is not the whole of it."""
    if frame.colno is None or frame.end_lineno != frame.lineno:
        return text
    source = text.encode()
    start, end = frame.colno, frame.end_colno
    if not source[:start].strip() and not source[end:].strip():
        return text
    return f"{source[:start].decode()}{_MARK}{source[start:end].decode()}{_UNMARK}{source[end:].decode()}"
