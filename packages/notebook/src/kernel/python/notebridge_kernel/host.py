"""Asking the host while Python blocks: of `network` and `questions`, each by a port of the worker."""

import json
import time


def ask(port, request, body=None, deadline=float("inf")):
    """The JSON and the bytes of the answer. What nobody waits for any more is cancelled."""
    number = port.begin(json.dumps(request), _to_js(body))
    answer = None
    try:
        # A call of its own: the jump back of a loop is the one place in a `try` where CPython 3.11 to 3.14 lets an interrupt out
        # without its `finally`.
        answer = _wait(port, number, deadline)
        return answer
    finally:
        if answer is None:
            port.cancel(number)


def _wait(port, number, deadline):
    while (left := deadline - time.monotonic()) > 0:
        text = port.wait(number, min(left, 1) * 1000)
        # At an interrupt (`i`) Python finds it here by itself, and raises what belongs to it.
        if text and text != "i":
            return json.loads(text), port.data().to_bytes()
    raise TimeoutError("the server took too long")


def _to_js(body):
    if body is None:
        return None
    from pyodide.ffi import to_js

    return to_js(bytes(body))
