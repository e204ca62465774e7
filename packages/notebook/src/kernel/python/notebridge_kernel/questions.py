"""`input()` and `getpass()`: the host asks the person, in an open window, and Python waits."""

import builtins
import json
import sys

from . import streams
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
    number = _port.begin(json.dumps({"prompt": prompt, "password": password}))
    answer = None
    try:
        # A call of its own, as in network.py.
        answer = _wait(number)
    finally:
        if answer is None:
            _port.cancel(number)
    if "text" not in answer:
        raise EOFError("input() got no answer")
    return answer["text"]


def _wait(number):
    while True:
        text = _port.wait(number, 1000)
        # At an interrupt (`i`) Python finds it here by itself, and raises what belongs to it.
        if text and text != "i":
            return json.loads(text)
