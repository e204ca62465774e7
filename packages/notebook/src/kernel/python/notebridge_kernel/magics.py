"""What cells hold that is not Python. Two magics work; the others say in one sentence what to write instead."""

import re
import time

from .packages import ADVICE

_LINE = re.compile(r"^(?P<indent>\s*)(?P<target>[A-Za-z_][\w., ]*=\s*)?(?P<sign>%|!|\?{1,2})(?P<text>[^\n]*)$")
_HELP = re.compile(r"^(?P<indent>\s*)(?P<text>[A-Za-z_][\w.]*)\?{1,2}\s*$")
_CELL = re.compile(r"^\s*%%(?P<name>\w+)[ \t]*(?P<argument>[^\n]*)\n?")
# Asked for by habit in many notebooks, and right here without being asked.
_NEEDLESS = {"matplotlib", "autoreload", "load_ext", "reload_ext", "config"}
_PIP = re.compile(r"(?:(?:python3?|[\w./-]*/python3?)\s+-m\s+)?pip3?\s+(?P<rest>.*)")
_NO_INSTALL = f"Here packages are installed by %pip install, pure ones alone. {ADVICE}"


class UsageError(Exception):
    """Asks for something that this notebook does not have."""


def rest_of_timed_cell(source):
    """What follows `%%time`, its lines kept in place; None when the cell has no cell magic. Others raise."""
    found = _CELL.match(source)
    if not found:
        return None
    if found["name"] != "time":
        raise UsageError(f"%%{found['name']} is not available in this notebook. Write the cell in Python; %%time works")
    above = "\n" * source[: found.end()].count("\n")
    return above + (found["argument"] and f"{found['argument']}\n") + source[found.end() :]


def replace_magics(source):
    """Turns each magic line into a call, one line for one line so that tracebacks stay true."""
    return "\n".join(_replace(line) for line in source.split("\n"))


def _replace(line):
    found = _LINE.match(line)
    if found:
        name, text = _name(found["sign"], found["text"].strip())
        return f"{found['indent']}{found['target'] or ''}await __notebridge_magic__({name!r}, {text!r})"
    asked = _HELP.match(line)
    return f"{asked['indent']}await __notebridge_magic__('?', {asked['text']!r})" if asked else line


def _name(sign, text):
    if sign != "%":
        return sign[0], text
    name, _, rest = text.partition(" ")
    return name, rest.strip()


def timed(run):
    """The function that magic lines call. `run` runs the source it is given."""

    async def magic(name, text, *more):
        if name in _NEEDLESS:
            return None
        pip = text if name == "pip" else (_PIP.fullmatch(text) or {"rest": None})["rest"] if name == "!" else None
        if pip is not None:
            from .installer import run_pip

            return await run_pip(pip)
        if name != "time":
            raise UsageError(_refusal(name, text))
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return await run(text, *more)
        finally:
            print(f"CPU times: {_seconds(time.process_time() - cpu)}\nWall time: {_seconds(time.perf_counter() - wall)}")

    return magic


def _refusal(name, text):
    if name in ("conda", "mamba", "uv"):
        return _NO_INSTALL
    if name == "!" or name in ("sx", "system", "bash", "sh"):
        return f"There is no shell in this notebook, so {'!' + text!r} can't run. Use Python: os, pathlib, shutil"
    if name == "?":
        return f"Help by '?' is not available in this notebook. Use help({text or 'name'})"
    return f"The magic %{name} is not available in this notebook; %time works"


def _seconds(duration):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if duration * factor >= 1:
            return f"{duration * factor:.3g} {unit}"
    return f"{duration * 1e9:.3g} ns"
