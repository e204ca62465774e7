"""One kernel's life: begun, ready, relayed, ended. A restart is a new helper."""

import json
import os
import shutil
import signal
import socket
import sys
import threading
import time

import zmq

from .frames import FrameReader, FrameWriter
from .output import Output
from .process import CannotStart, KernelProcess, Spec, make_connection, make_folder
from .tools import Tools
from .wire import Wire

#: What a kernel gets to end by itself. Seconds.
_SHUTDOWN = 1.0
_MOST_AT_ONCE = 256
_READY_AGAIN = 0.2
#: After an interrupt. Seconds.
_WAKE_AFTER = (0.03, 0.3)


def run(temporary):
    reader, writer = FrameReader(os.dup(0)), FrameWriter(os.dup(1))
    # Whatever prints here does not reach the host as a frame.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # The interrupts are the kernel's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = make_folder(temporary)
    helper = Helper(reader, writer, folder)
    try:
        helper.live()
    except CannotStart as error:
        writer.write({"type": "dead", "reason": str(error)})
    except (BrokenPipeError, ConnectionResetError):
        # The host is gone.
        pass
    finally:
        helper.end()
        shutil.rmtree(folder, ignore_errors=True)


class Helper:
    def __init__(self, reader, writer, folder):
        self._reader, self._writer, self._folder = reader, writer, folder
        self._wake_here, self._wake_there = socket.socketpair()
        self._poller = zmq.Poller()
        self._output = Output(self._post)
        self._process = self._wire = self._tools = None
        #: Before it is killed; not where its code let interrupts pass.
        self._asks_kernel = True
        self._reads_output = False
        #: The cell that the kernel has not answered yet: an interrupt of another one is too late.
        self._cell = None
        self._wakes, self._last_wake = [], None
        #: ipykernel works on one message after the other.
        self._is_serial = False

    def live(self):
        self._poller.register(self._reader._descriptor, zmq.POLLIN)
        start = self._first_frame()
        if start is None:
            return
        spec = Spec(start.get("kernelName"))
        path, connection = make_connection(self._folder, spec.language)
        environment = {}
        if start.get("tools"):
            self._tools = Tools(self._folder, self._writer.write)
            environment = self._tools.environment()
        command = spec.command(path)
        self._process = KernelProcess(spec, command, environment, lambda: self._wake_there.send(b"."))
        if self._tools:
            self._tools.begin()
        self._writer.write({"type": "started", "pid": self._process.pid, "folder": self._folder})
        self._by_message, self._is_serial = spec.by_message, spec.language == "python"
        self._wire = Wire(connection)
        for name in ("shell", "control", "stdin"):
            self._poller.register(self._wire.sockets[name], zmq.POLLIN)
        self._poller.register(self._wake_here, zmq.POLLIN)
        info = self._become_ready()
        if info is not None:
            about = {"name": spec.name, "displayName": spec.display_name, "language": spec.language}
            self._writer.write({"type": "ready", **about}, [info])
            while self._turn(self._next_wake()):
                pass
        elif self._process.has_ended:
            self._report_end()

    def end(self):
        if self._process is not None and not self._process.has_ended:
            if self._asks_kernel:
                self._shut_down()
            self._process.kill()
            end = time.monotonic() + _SHUTDOWN
            while not self._process.has_ended and time.monotonic() < end:
                time.sleep(0.01)
        if self._wire is not None:
            self._wire.close()

    def _shut_down(self):
        try:
            self._wire.send("control", "shutdown_request", os.urandom(8).hex(), b'{"restart":false}')
        except (AttributeError, zmq.ZMQError):
            return
        end = time.monotonic() + _SHUTDOWN
        while not self._process.has_ended and time.monotonic() < end:
            time.sleep(0.005)

    def _first_frame(self):
        frames = []
        while not frames:
            frames = self._reader.read()
            if frames is None:
                return None
        self._early = frames[1:]
        return frames[0]

    def _become_ready(self):
        """What the kernel says of itself, once it answers on all channels; None if it ended, or the host has."""
        iopub = self._wire.sockets["iopub"]
        info, is_heard, asked = None, False, 0.0
        while not self._process.has_ended:
            if time.monotonic() - asked > _READY_AGAIN:
                asked = time.monotonic()
                self._wire.send("shell", "kernel_info_request", os.urandom(8).hex(), b"{}")
            # Not in the poller yet: what comes before the first cell is nobody's.
            is_heard = bool(iopub.poll(0 if info is None else 20)) or is_heard
            for source, _ in self._poller.poll(20):
                if source is self._wire.sockets["shell"]:
                    message = self._wire.receive("shell")
                    if message and message.type == "kernel_info_reply":
                        info = message.content
                elif source == self._reader._descriptor:
                    frames = self._reader.read()
                    if frames is None:
                        return None
                    self._early += frames
            if info is not None and is_heard:
                self._settle()
                return info
        return None

    def _settle(self):
        """The other answers to our asking are not for the host."""
        while self._wire.receive("shell") or self._wire.receive("iopub"):
            pass
        for frame in self._early:
            self._obey(frame)
        self._early = []

    def _turn(self, timeout):
        if self._reads_output != self._output.has_room:
            self._reads_output = self._output.has_room
            iopub = self._wire.sockets["iopub"]
            self._poller.register(iopub, zmq.POLLIN) if self._reads_output else self._poller.unregister(iopub)
        for source, _ in self._poller.poll(timeout):
            if source == self._reader._descriptor:
                frames = self._reader.read()
                if frames is None:
                    return False
                for frame in frames:
                    if frame["type"] == "shutdown":
                        self._asks_kernel = not frame.get("now")
                        return False
                    self._obey(frame)
            elif source == self._wake_here.fileno() or source is self._wake_here:
                return self._end_of_kernel()
            else:
                self._relay(source)
        return True

    def _end_of_kernel(self):
        # What it said last is on its way.
        for socket_of in self._wire.sockets.values():
            self._relay(socket_of)
        self._report_end()
        return False

    def _report_end(self):
        self._writer.write({"type": "dead", "reason": self._process.describe_end()})

    def _relay(self, source):
        channel = next(name for name, each in self._wire.sockets.items() if each is source)
        for _ in range(_MOST_AT_ONCE):
            message = self._wire.receive(channel)
            if message is None:
                return
            if not message.type:
                continue
            if channel == "shell" and self._cell is not None:
                if message.parent == self._last_wake:
                    # Whatever we sent before it is over: the interrupt has hit ipykernel itself, which then does not answer.
                    self._report_lost_reply()
                elif message.parent == self._cell:
                    self._cell = None
            if channel != "iopub":
                header = {"type": "message", "channel": channel, "messageType": message.type, "parent": message.parent, "size": 0}
                if channel == "stdin":
                    header["header"] = message.header.decode("utf-8", "replace")
                self._writer.write(header, [message.content, message.metadata])
            else:
                self._output.put(message)
                if not self._output.has_room:
                    return

    def _post(self, message, content):
        size = len(content) + sum(map(len, message.buffers))
        header = {"type": "message", "channel": "iopub", "messageType": message.type, "parent": message.parent, "size": size}
        self._writer.write(header, [content, message.metadata, *message.buffers])
        return size

    def _interrupt(self):
        if self._by_message:
            self._wire.send("control", "interrupt_request", os.urandom(8).hex(), b"{}")
            return
        self._process.interrupt()
        now = time.monotonic()
        self._wakes = [now + after for after in _WAKE_AFTER] if self._is_serial else []

    def _next_wake(self):
        """Milliseconds until the kernel is woken. A loop of asyncio that waits sees what a signal has done when something else comes."""
        if self._cell is None:
            self._wakes = []
        if not self._wakes:
            return None
        left = self._wakes[0] - time.monotonic()
        if left > 0:
            return left * 1000
        del self._wakes[0]
        self._last_wake = os.urandom(8).hex()
        self._wire.send("shell", "kernel_info_request", self._last_wake, b"{}")
        return self._next_wake()

    def _report_lost_reply(self):
        header = {"type": "message", "channel": "shell", "messageType": "execute_reply", "parent": self._cell, "size": 0}
        self._cell = None
        self._writer.write(header, [b'{"status":"aborted"}', b"{}"])

    def _obey(self, frame):
        kind = frame["type"]
        if kind == "send":
            content, *buffers = frame["parts"]
            parent = frame.get("parentHeader", "{}").encode("utf-8", "surrogatepass")
            metadata = json.dumps(frame.get("metadata", {})).encode()
            if frame["messageType"] == "execute_request":
                # The answer to a wake for an earlier cell says nothing of this one.
                self._cell, self._wakes, self._last_wake = frame["id"], [], None
            self._wire.send(frame["channel"], frame["messageType"], frame["id"], content, buffers, metadata, parent)
        elif kind == "acknowledge":
            self._output.acknowledge(frame["count"])
        elif kind == "interrupt":
            # Of no cell: a callback of a widget, which nothing answers.
            if frame["id"] == self._cell:
                self._interrupt()
        elif self._tools:
            self._tools.take(frame)
