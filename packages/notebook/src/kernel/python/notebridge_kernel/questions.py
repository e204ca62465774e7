"""`input()` and `getpass()`: the host asks the person, in an open window, and Python waits."""

import builtins
import sys

from . import host, streams
from .fitted import Fitted

_port = None


def install():
    builtins.input = _input


def connect(port):
    global _port
    _port = port
    sys.meta_path.insert(0, Fitted({"getpass": _fit_getpass}))


def _input(prompt="", /):
    return _ask(str(prompt), False)


def _fit_getpass(module):
    def getpass(prompt="Password: ", stream=None, **options):
        return _ask(str(prompt), True)

    module.getpass = getpass


def _ask(prompt, password):
    if _port is None:
        raise RuntimeError("input() is not available in this notebook: nobody is there to type. Write the value into the cell")
    streams.flush()
    answer, _ = host.ask(_port, {"prompt": prompt, "password": password})
    if "text" not in answer:
        raise EOFError("input() got no answer")
    return answer["text"]
