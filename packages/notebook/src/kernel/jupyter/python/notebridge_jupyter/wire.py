"""Jupyter's messages over ZeroMQ: signed lists of bytes. Contents are passed on unparsed."""

import hashlib
import hmac
import json
import os
from datetime import datetime, timezone

import zmq

_DELIMITER = b"<IDS|MSG>"
CHANNELS = {"shell": zmq.DEALER, "control": zmq.DEALER, "stdin": zmq.DEALER, "iopub": zmq.SUB}
#: Messages of the kernel that wait in this process before it is asked to keep them itself; see output.py.
_MOST_WAITING = 4


class Wire:
    """The client's end of the channels that a connection file names."""

    def __init__(self, connection):
        self._key = connection["key"].encode()
        self._session = os.urandom(16).hex()
        self._context = zmq.Context()
        self.sockets = {}
        for channel, kind in CHANNELS.items():
            socket = self.sockets[channel] = self._context.socket(kind)
            socket.linger = 0
            if kind == zmq.SUB:
                socket.set(zmq.RCVHWM, _MOST_WAITING)
                socket.set(zmq.SUBSCRIBE, b"")
            else:
                # The kernel asks its questions on `stdin` of whoever has sent the cell on `shell`.
                socket.set(zmq.IDENTITY, self._session.encode())
            joint = "-" if connection["transport"] == "ipc" else ":"
            socket.connect("{}://{}{}{}".format(connection["transport"], connection["ip"], joint, connection[channel + "_port"]))

    def send(self, channel, message_type, message_id, content, buffers=(), metadata=b"{}", parent=b"{}"):
        """`content`, `metadata` and `parent` are JSON, as bytes."""
        header = {
            "msg_id": message_id,
            "msg_type": message_type,
            "session": self._session,
            "username": "notebridge",
            "date": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "version": "5.3",
        }
        parts = [json.dumps(header).encode(), parent, metadata, content]
        self.sockets[channel].send_multipart([_DELIMITER, self._sign(parts), *parts, *buffers])

    def receive(self, channel):
        """The next message that is there; None if there is none, or a broken or forged one."""
        try:
            frames = self.sockets[channel].recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        return Message(frames[frames.index(_DELIMITER) + 1 :], self._sign) if _DELIMITER in frames else Message((), self._sign)

    def close(self):
        self._context.destroy(linger=0)

    def _sign(self, parts):
        if not self._key:
            return b""
        signature = hmac.new(self._key, digestmod=hashlib.sha256)
        for part in parts:
            signature.update(part)
        return signature.hexdigest().encode()


class Message:
    """`content` and `metadata` are JSON, as bytes. `type` is empty if it is broken or forged."""

    __slots__ = ("type", "parent", "header", "metadata", "content", "buffers")

    def __init__(self, parts, sign):
        self.type, self.parent, self.header, self.metadata, self.content, self.buffers = "", "", b"{}", b"{}", b"{}", ()
        if len(parts) < 5 or not hmac.compare_digest(parts[0], sign(parts[1:5])):
            return
        try:
            header, parent = json.loads(parts[1]), json.loads(parts[2])
            self.parent = str(parent.get("msg_id", ""))
            self.header, self.metadata, self.content, self.buffers = parts[1], parts[3], parts[4], parts[5:]
            self.type = str(header["msg_type"])
        except (ValueError, KeyError, AttributeError):
            self.type = ""
