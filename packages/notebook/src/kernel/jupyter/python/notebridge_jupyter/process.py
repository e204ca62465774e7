"""The kernel's process: found, begun, watched, and ended with all that it has begun."""

import ctypes
import json
import os
import re
import secrets
import signal
import socket
import string
import subprocess
import sys
import tempfile
import threading

_LONGEST_PATH = 100
_END_OF_STDERR = 4000
#: Their kernels are known to take a local socket, which nobody else on the machine can connect to. The others get a port of loopback.
_LANGUAGES_WITH_IPC = {"python", "r", "julia"}
_PR_SET_PDEATHSIG = 1
#: As `-m ipykernel_launcher`, with four differences. The notebook's folder is looked into for modules from the first cell on, and not
#: while the kernel starts: a cloned repository may have files of those names, and nothing of it runs because a notebook was opened.
#: A thread shows what it shows in the cell that began it, or handed it the work; ipykernel takes the newest cell. And `breakpoint()`
#: asks in the notebook, where ipykernel's debugger waits for a program that nobody has started, and says nothing. A chart of Plotly
#: at the end of a cell is shown without nbformat, which Plotly wants for that, and does not need.
_LAUNCH = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import os, threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from importlib.util import find_spec
from ipykernel.kernelapp import IPKernelApp
app = IPKernelApp.instance()
app.initialize(["--InteractiveShellApp.ignore_cwd=True"] + sys.argv[1:])
def inherit(start):
    def start_in_context(self):
        run, context = self.run, copy_context()
        def run_in_context():
            del self.run
            context.run(run)
        self.run = run_in_context
        start(self)
    return start_in_context
def hand_over(submit):
    def submit_in_context(self, *args, **kwargs):
        return submit(self, copy_context().run, *args, **kwargs)
    return submit_in_context
def show_figure(figure):
    app.shell.display_pub.publish(figure._repr_mimebundle_())
def before_first_cell(*_):
    app.shell.events.unregister("pre_run_cell", before_first_cell)
    if "" not in sys.path:
        sys.path.insert(0, "")
    if "PYTHONBREAKPOINT" not in os.environ:
        from IPython.core.debugger import set_trace
        sys.breakpointhook = set_trace
    threading.Thread.start = inherit(threading.Thread.start)
    ThreadPoolExecutor.submit = hand_over(ThreadPoolExecutor.submit)
    if find_spec("nbformat") is None:
        formatter = app.shell.display_formatter.ipython_display_formatter
        formatter.for_type_by_name("plotly.basedatatypes", "BaseFigure", show_figure)
app.shell.events.register("pre_run_cell", before_first_cell)
app.start()
"""


class CannotStart(Exception):
    """The text says why, and what to do."""


class Spec:
    """What is to be started: the kernelspec of this name, or the ipykernel of this Python."""

    def __init__(self, name):
        if name is None:
            self._take_own()
        else:
            self._take(name)

    def _take_own(self):
        import importlib.util

        if importlib.util.find_spec("ipykernel") is None:
            raise CannotStart(no_ipykernel(sys.executable))
        self.name, self.display_name, self.language = "python3", "Python 3 (ipykernel)", "python"
        self.argv = [sys.executable, "-c", _LAUNCH, "-f", "{connection_file}"]
        self.environment, self.by_message, self.folder = {}, False, ""

    def _take(self, name):
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel

        specs = KernelSpecManager()
        try:
            spec = specs.get_kernel_spec(name)
        except NoSuchKernel:
            # Also one that runs elsewhere, by a program that is not installed.
            folders = specs.find_kernel_specs()
            if name not in folders:
                text = 'there is no kernel "{}" for "{}". There are: {}. `notebridge kernels` lists all'
                raise CannotStart(text.format(name, sys.executable, ", ".join(sorted(folders)) or "none")) from None
            spec = KernelSpec.from_resource_dir(folders[name])
        provisioner = (spec.metadata or {}).get("kernel_provisioner", {}).get("provisioner_name", "local-provisioner")
        if provisioner != "local-provisioner":
            raise CannotStart('the kernel "{}" runs elsewhere, by "{}". Open it with Jupyter'.format(name, provisioner))
        if not spec.argv:
            raise CannotStart('the kernelspec "{}" in {} names no program. Install the kernel anew'.format(name, spec.resource_dir))
        self.name, self.display_name, self.language = name, spec.display_name, (spec.language or "").lower()
        self.argv, self.environment, self.folder = _with_launch(spec.argv), spec.env or {}, spec.resource_dir
        self.by_message = getattr(spec, "interrupt_mode", "signal") == "message"

    def command(self, connection_file):
        values = {"connection_file": connection_file, "prefix": sys.prefix, "resource_dir": self.folder}
        command = [re.sub(r"\{(\w+)\}", lambda found: values.get(found.group(1), found.group()), word) for word in self.argv]
        # As Jupyter does: this Python, and not the first one on the path.
        own = {"python", "python3", "python%d.%d" % sys.version_info[:2]}
        return [sys.executable if command[0] in own else command[0], *command[1:]]


def _with_launch(argv):
    """A kernelspec of ipykernel begins as a Python of one's own does."""
    for at in range(len(argv) - 1):
        if argv[at : at + 2] == ["-m", "ipykernel_launcher"]:
            return [*argv[:at], "-c", _LAUNCH, *argv[at + 2 :]]
    return argv


def no_ipykernel(python):
    return 'ipykernel is not installed for "{}". Install it: "{}" -m pip install ipykernel'.format(python, python)


def make_folder(temporary):
    """A folder that only this user can read, for sockets and files. The host says where: code of other kernels may write to some places."""
    return tempfile.mkdtemp(prefix="notebridge-kernel-", dir=temporary)


def make_connection(folder, language):
    """A connection file, and what stands in it."""
    prefix = os.path.join(folder, "kernel")
    by_ipc = language in _LANGUAGES_WITH_IPC and len(prefix) < _LONGEST_PATH
    names = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
    connection = dict(zip(names, range(1, 6) if by_ipc else _free_ports(len(names))))
    connection.update(
        transport="ipc" if by_ipc else "tcp",
        ip=prefix if by_ipc else "127.0.0.1",
        key=secrets.token_hex(32),
        signature_scheme="hmac-sha256",
    )
    path = os.path.join(folder, "connection.json")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(connection, file)
    return path, connection


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class KernelProcess:
    """A process group of its own. `on_end` is called in another thread, once, when the kernel has ended."""

    def __init__(self, spec, command, environment, on_end):
        # Its debugger warns about its own settings, on some machines, in the middle of the first cell.
        values = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", **os.environ, **environment}
        values.update((name, string.Template(value).safe_substitute(os.environ)) for name, value in spec.environment.items())
        # ipykernel looks whether this process is still there.
        values["JPY_PARENT_PID"] = str(os.getpid())
        self._command = command
        self._said = b""
        self._on_end = on_end
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=values,
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )
        except OSError as error:
            text = 'its program "{}" cannot be run: {}. Install the kernel "{}" anew, or choose another one'
            raise CannotStart(text.format(command[0], error.strerror or error, spec.name)) from None
        self.pid = self._process.pid
        self._drain = threading.Thread(target=self._keep_end, daemon=True)
        self._drain.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def interrupt(self):
        self._signal_all(signal.SIGINT)

    def kill(self):
        self._signal_all(signal.SIGKILL)

    @property
    def has_ended(self):
        return self._process.returncode is not None

    def describe_end(self):
        code = self._process.returncode or 0
        reason = "its process ended with code {}".format(code)
        if code < 0:
            reason = "its process ended with {}".format(signal.Signals(-code).name)
            # It has not killed itself, and neither have we.
            reason += ", perhaps because memory ran out" if code == -signal.SIGKILL else ""
        said = self._said.decode("utf-8", "replace").strip()
        if "No module named" in said and "ipykernel" in said:
            return no_ipykernel(self._command[0])
        return "{}: {}".format(reason, said) if said else reason

    def _signal_all(self, number):
        if self.has_ended:
            return
        try:
            os.killpg(self.pid, number)
        except OSError:
            self._process.send_signal(number)

    def _watch(self):
        if hasattr(os, "waitid"):
            # Its number stays taken until it is reaped, so the signal can't reach somebody else.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except OSError:
                pass
        self._process.wait()
        # What it said last may still be on its way.
        self._drain.join(1)
        self._on_end()

    def _keep_end(self):
        while True:
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                return
            self._said = (self._said + piece)[-_END_OF_STDERR:]


def _die_with_parent():
    """Has Linux end the kernel when this process ends, however it ends."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def in_child():
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return in_child
