"""Adds compiled code to Pyodide's standard library, which comes as sources only: Python then starts in a sixth of the time."""

import importlib.util
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc


def compile_stdlib(source, target):
    """Writes `target`: all of the zip file `source`, and beside each module what it compiles to. The same input gives the same bytes."""
    with zipfile.ZipFile(source) as library, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as result:
        for entry in library.infolist():
            content = library.read(entry)
            result.writestr(entry, content)
            if entry.filename.endswith(".py"):
                compiled = zipfile.ZipInfo(entry.filename + "c", entry.date_time)
                compiled.compress_type = zipfile.ZIP_DEFLATED
                result.writestr(compiled, _compile(entry.filename, content))


def _compile(name, content):
    # The name it would have got from where Pyodide keeps the file: tracebacks show it.
    place = next(path for path in sys.path if path.endswith(".zip"))
    code = compile(content, f"{place}/{name}", "exec", dont_inherit=True)
    # By hash and unchecked: nobody looks at the source again, so its time stamp does not matter.
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(content), False))
