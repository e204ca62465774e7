"""Fetching for code that blocks: `urllib.request` by way of the host, which reaches the servers that are allowed and no others.

Code that awaits uses `pyodide.http.pyfetch`, which goes the same way.
"""

import io
import json
import sys
import time

from . import host
from .fitted import Fitted

_port = None
_DEFAULT_TIMEOUT = 600.0


def connect(port):
    """The host fetches. What belongs to the libraries is fitted when they are imported, since most cells import none of them."""
    global _port
    _port = port
    sys.meta_path.insert(0, Fitted({"urllib.request": _fit_urllib, "urllib3.contrib.emscripten.fetch": _fit_urllib3}))


def is_there():
    return _port is not None


class Answer(io.RawIOBase):
    """What a server has answered. The body is read in pieces, each asked of the host."""

    def __init__(self, head, deadline):
        self.status, self.reason, self.url = head["status"], head["statusText"], head["url"]
        self.headers = [(name, value) for name, value in head["headers"]]
        self._handle, self._deadline, self._left = head["handle"], deadline, memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._left:
            self._left = memoryview(self._read_piece())
        part = self._left[: len(buffer)]
        buffer[: len(part)] = part
        self._left = self._left[len(part) :]
        return len(part)

    def close(self):
        if not self.closed and self._handle is not None:
            _port.begin(json.dumps({"op": "close", "handle": self._handle}))
            self._handle = None
        super().close()

    def _read_piece(self):
        """Bytes, and none at the end."""
        if self._handle is None:
            return b""
        _, data = _ask({"op": "read", "handle": self._handle}, None, self._deadline)
        if not data:
            self._handle = None
        return data


def send(method, url, headers=(), body=None, timeout=None, follow=True):
    """Blocks until the head of the answer is there. Raises OSError with the host's words, and TimeoutError."""
    deadline = time.monotonic() + (_DEFAULT_TIMEOUT if timeout is None else timeout)
    request = {
        "op": "open",
        "url": url,
        "method": method,
        "headers": [[str(name), str(value)] for name, value in headers],
        "redirect": "follow" if follow else "manual",
    }
    head, _ = _ask(request, body, deadline)
    return Answer(head, deadline)


def _ask(request, body, deadline):
    if not _port.canWait:
        raise OSError("Code that blocks cannot fetch here. Use: await pyodide.http.pyfetch(url)")
    value, data = host.ask(_port, request, body, deadline)
    if "error" in value:
        raise OSError(value["error"])
    return value, data


def _fit_urllib(module):
    def fetch(handler, request):
        body = request.data
        if body is not None and not isinstance(body, (bytes, bytearray, memoryview)):
            body = body.read() if hasattr(body, "read") else b"".join(body)
        sent = {**request.headers, **request.unredirected_hdrs}
        timeout = request.timeout if isinstance(request.timeout, (int, float)) else None
        try:
            # Redirects are followed by urllib's own handler: each comes back here, and is asked of the host.
            answer = send(request.get_method(), request.full_url, sent.items(), body, timeout, follow=False)
        except TimeoutError:
            raise
        except OSError as error:
            raise module.URLError(str(error)) from None
        return _to_response(module, answer, request.full_url)

    # One class for both: the other one is only there where Python has TLS of its own, and would be asked as well.
    module.HTTPHandler.http_open = module.HTTPHandler.https_open = fetch
    module.HTTPHandler.https_request = module.HTTPHandler.http_request
    if hasattr(module, "HTTPSHandler"):
        module.HTTPSHandler.https_open = fetch


def _to_response(module, answer, url):
    # There already, by `urllib.request`. At the top it would cost each start a dozen modules.
    import email.message

    headers = email.message.Message()
    for name, value in answer.headers:
        headers[name] = value
    response = module.addinfourl(io.BufferedReader(answer, 256 * 1024), headers, url, answer.status)
    response.msg = response.reason = answer.reason
    response.version = 11
    response.getheader = headers.get
    response.getheaders = headers.items
    return response


def _fit_urllib3(module):
    """Which `requests` uses. Its own way for this platform needs JavaScript that is not here."""
    from urllib3.contrib.emscripten.response import EmscriptenResponse

    def send_request(request):
        answer = send(request.method, request.url, request.headers.items(), request.body, request.timeout or None, follow=False)
        with io.BufferedReader(answer, 256 * 1024) as body:
            return EmscriptenResponse(status_code=answer.status, headers=dict(answer.headers), body=body.read(), request=request)

    module.send_request = send_request
    module.send_streaming_request = lambda request: None
