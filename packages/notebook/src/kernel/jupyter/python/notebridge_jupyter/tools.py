"""Tools of the host for the code of the kernel: over HTTP at a port of loopback, in the hub's own protocol, with a token of this kernel.

Each call goes to the host as a frame, and its answer comes back as one. Both are text that is not parsed here.
"""

import hmac
import json
import os
import queue
import secrets
import select
import shutil
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import unquote

_PREFIX = "/api/v1/mcp/proxy/"
_PACKAGE_PATH = "/package"
_LONGEST_WAIT_FOR_PACKAGE = 30.0
#: Who has imported a version keeps it, also where it looks into files later.
_KEPT_VERSIONS = 4
_LARGEST_BODY = 256_000_000
_BEGIN_OF_RESULT = '{"event":"result",'
_PLACEHOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "placeholder.py")


class Tools:
    """`post(header, parts)` writes a frame."""

    def __init__(self, folder, post):
        self._post = post
        self._package = Package(os.path.join(folder, "python"))
        self._token = secrets.token_urlsafe(32)
        self._numbers = count(1)
        self._waiting = {}
        self._server = _Server(self, self._token)

    def environment(self):
        """The variables by which code finds its tools."""
        others = os.environ.get("PYTHONPATH")
        return {
            "NOTEBRIDGE_URL": "http://127.0.0.1:{}".format(self._server.server_port),
            "NOTEBRIDGE_TOKEN": self._token,
            # Has the package say of each call which cell makes it.
            "NOTEBRIDGE_NAMES_CELLS": "1",
            "PYTHONPATH": os.pathsep.join([self._package.folder, *([others] if others else [])]),
        }

    def begin(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, frame):
        """A message of the host. Nobody may wait for it any more."""
        if frame["type"] == "toolPackage":
            self._package.take(frame["package"])
            return
        inbox = self._waiting.get(frame["id"])
        if inbox is not None:
            inbox.put((frame["type"], frame["text"]))

    def wait_for_package(self):
        return self._package.wait()

    def call(self, server, tool, body, hears, cell):
        """A call under way."""
        number, inbox = next(self._numbers), queue.Queue()
        self._waiting[number] = inbox
        named = {} if cell is None else {"cell": cell}
        self._post({"type": "toolCall", "id": number, "server": server, "tool": tool, "body": body, "hears": hears, **named})
        return number, inbox

    def heard(self, number):
        self._post({"type": "toolHeard", "id": number})

    def end(self, number, is_answered):
        self._waiting.pop(number, None)
        if not is_answered:
            self._post({"type": "toolCancel", "id": number})


class Package:
    """The folder from which code imports `generated`: a link to a folder of one version, or a placeholder that waits for it."""

    def __init__(self, folder):
        self.folder = folder
        self._versions = []
        self._state = {"state": "coming"}
        self._change = threading.Condition()
        os.mkdir(folder)
        self._link("placeholder", {"__init__.py": open(_PLACEHOLDER, encoding="utf-8").read()})

    def take(self, package):
        if package["state"] == "there":
            version = package["version"][:12]
            self._link(version, dict(package["files"]))
            self._versions = [*(each for each in self._versions if each != version), version]
            for old in self._versions[:-_KEPT_VERSIONS]:
                shutil.rmtree(self._place(old), ignore_errors=True)
            self._versions = self._versions[-_KEPT_VERSIONS:]
        else:
            self._link("placeholder", {})
        with self._change:
            self._state = package
            self._change.notify_all()

    def wait(self):
        """`there`, `coming`, or why there is none."""
        with self._change:
            self._change.wait_for(lambda: self._state["state"] != "coming", _LONGEST_WAIT_FOR_PACKAGE)
            return {"state": self._state["state"], "reason": self._state.get("reason", "")}

    def _place(self, version):
        return os.path.join(self.folder, ".generated-" + version)

    def _link(self, version, files):
        """An import sees the old package or the new one."""
        place = self._place(version)
        if not os.path.exists(place):
            for path, text in files.items():
                file_name = os.path.join(place, *path.split("/"))
                os.makedirs(os.path.dirname(file_name), exist_ok=True)
                with open(file_name, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                    file.write(text)
        link = os.path.join(self.folder, "generated")
        os.symlink(os.path.basename(place), link + ".new")
        os.replace(link + ".new", link)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, tools, token):
        self.tools, self.token = tools, token
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request, client_address):
        """The other side went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_):
        """Nothing is logged."""

    def do_GET(self):
        if self._is_known() and self.path == _PACKAGE_PATH:
            self._answer(200, json.dumps(self.server.tools.wait_for_package()))
        else:
            self._refuse(404, "unknown_route", "This address serves the tools of one kernel, and nothing else.")

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not self._is_known():
            self.close_connection = True
            return self._refuse(401, "bad_grant", "The token is not that of this kernel. Leave NOTEBRIDGE_URL and NOTEBRIDGE_TOKEN as they are.")
        if length > _LARGEST_BODY:
            self.close_connection = True
            return self._refuse(413, "message_too_large", "The arguments have more than {:,} bytes.".format(_LARGEST_BODY))
        body = self.rfile.read(length).decode("utf-8", "surrogatepass")
        names = self.path[len(_PREFIX) :].split("/") if self.path.startswith(_PREFIX) else []
        if len(names) != 3 or names[1] != "tools":
            return self._refuse(404, "unknown_route", "This address serves the tools of one kernel, and nothing else.")
        self._call(unquote(names[0]), unquote(names[2]), body, "application/x-ndjson" in (self.headers.get("Accept") or ""))

    def _call(self, server, tool, body, hears):
        tools, is_answered, has_begun = self.server.tools, False, False
        number, inbox = tools.call(server, tool, body, hears, self.headers.get("Notebridge-Cell"))
        try:
            while True:
                kind, text = self._next(inbox)
                if kind == "toolAnswer":
                    is_answered = True
                    break
                has_begun = has_begun or self._begin_lines()
                self._chunk(text + "\n")
                tools.heard(number)
        finally:
            tools.end(number, is_answered)
        if not hears:
            return self._answer(200, text)
        has_begun or self._begin_lines()
        self._chunk(_BEGIN_OF_RESULT + text[1:] + "\n")
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _next(self, inbox):
        """The next message of the call. Raises when nobody waits for it any more."""
        while True:
            try:
                return inbox.get(timeout=0.05)
            except queue.Empty:
                if select.select([self.connection], [], [], 0)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                    raise ConnectionError("the caller went away") from None

    def _begin_lines(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        return True

    def _chunk(self, text):
        data = text.encode("utf-8", "surrogatepass")
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _is_known(self):
        return hmac.compare_digest(self.headers.get("Authorization") or "", "Bearer " + self.server.token)

    def _refuse(self, status, code, text):
        self._answer(status, json.dumps({"detail": text, "error_code": code}))

    def _answer(self, status, text):
        data = text.encode("utf-8", "surrogatepass")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
