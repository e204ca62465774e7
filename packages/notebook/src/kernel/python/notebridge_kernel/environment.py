"""Fits Python's own functions to a notebook, and takes away the ways to JavaScript that Pyodide opens."""

import asyncio
import builtins
import os
import posix
import signal
import sys
import time
import types

_PYODIDE_NAMES = ("_pyodide", "_pyodide_core", "os", "pyodide", "sys")


def install(pause):
    builtins.exit = builtins.quit = _exit
    sys.breakpointhook = _no_breakpoint
    # In Node Pyodide runs these in a shell of the host. The permissions of the process refuse that, but then Python is lost.
    os.system = posix.system = _no_shell
    time.sleep = _sleep_with(pause)
    # Emscripten's name for the program: a path of the host.
    os.environ.pop("_", None)
    asyncio.run = _no_second_loop("asyncio.run()")
    type(asyncio.get_event_loop()).run_until_complete = _no_second_loop("run_until_complete()")
    _hide_javascript()


def clear_namespace(namespace):
    """What Pyodide leaves in `__main__` was not put there by the person."""
    for name in _PYODIDE_NAMES:
        namespace.pop(name, None)


def _sleep_with(pause):
    def sleep(seconds, /):
        """Blocks for the given number of seconds. An interrupt ends it at once."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        end = time.monotonic() + seconds
        pause(0)
        while (left := end - time.monotonic()) > 0:
            if pause(min(left, 1) * 1000):
                signal.getsignal(signal.SIGINT)(signal.SIGINT, sys._getframe())

    return sleep


def _no_shell(command):
    raise OSError(f"There is no shell in this notebook to run {command!r} in")


def _no_breakpoint(*arguments, **options):
    raise RuntimeError("breakpoint() is not available in this notebook: there is no terminal for the debugger")


def _exit(code=None):
    raise SystemExit(code)


def _hide_javascript():
    """Leaves `js` (only what the worker put into it) and the two names Pyodide's own modules ask for when they run.

    Keeps honest code from the host by accident. It is no boundary against code that means harm: see the README of the kernel.
    """
    import pyodide_js

    stand_in = types.ModuleType("pyodide_js")
    stand_in._api = types.ModuleType("pyodide_js._api")
    stand_in._api.abortSignalAny = pyodide_js._api.abortSignalAny
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyodide_js"]:
        del sys.modules[name]
    for finder in sys.meta_path:
        getattr(finder, "jsproxies", {}).pop("pyodide_js", None)
    sys.modules.update({"pyodide_js": stand_in, "pyodide_js._api": stand_in._api})


def _no_second_loop(what):
    def refuse(*arguments, **options):
        for coroutine in filter(asyncio.iscoroutine, arguments):
            # Else Python warns that nobody awaited it.
            coroutine.close()
        raise RuntimeError(f"{what} can't be called in a notebook, whose event loop is running already. Write: await main()")

    return refuse
