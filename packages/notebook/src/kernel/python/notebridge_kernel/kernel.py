"""Runs cells, one after the other, as tasks of the event loop, and reports what they show and how they end."""

import asyncio
import builtins
import gc
import json
import signal
import __main__

from . import display, environment, folder, network, questions, seeds, streams, tools
from .cells import History, file_name, remember_source, run_source
from .tracebacks import describe


def start(post, pause):
    """`post(json)` hands a report to the worker. `pause(ms)` blocks, and answers whether an interrupt ended it."""
    seeds.renew()
    kernel = Kernel(post)
    environment.install(pause)
    questions.install()
    streams.install(kernel.tell_writer)
    # All that is there by now stays: looking through it again would cost a cell tens of milliseconds now and then.
    gc.freeze()
    return kernel


_NO_WORDS = "an error that can't be described"
_UNDESCRIBED = {"output_type": "error", "ename": "Error", "evalue": _NO_WORDS, "traceback": [f"Error: {_NO_WORDS}"]}


class Kernel:
    def __init__(self, post):
        self._post = post
        self._namespace = __main__.__dict__
        environment.clear_namespace(self._namespace)
        self._history = History(self._namespace)
        self._task = None
        self._count = 0
        # The cell that the worker takes for the one that writes.
        self._writer = 0
        self._in_user_code = False
        self._starting = False
        # How many interrupts have come since the kernel is there; read by the worker before each cell.
        self.interrupts = 0
        self._interrupts_before = 0
        display.connect(self._report)
        # As in IPython: there without an import.
        builtins.display = display.display
        signal.signal(signal.SIGINT, self._on_signal)
        # A KeyboardInterrupt that hit the loop itself has been dealt with by `_on_signal`.
        asyncio.get_event_loop()._keyboard_interrupt_handler = lambda: None
        asyncio.get_event_loop()._system_exit_handler = lambda code: None

    def execute(self, count, source, interrupts_before):
        """Runs the cell up to where it first waits; the end comes as a report. `interrupts_before`: those that were not meant for it.
        Given, since one may come before the first line of ours runs, and a count of our own would take it for an old one."""
        self._interrupts_before = interrupts_before
        self._starting = True
        loop = asyncio.get_event_loop()
        loop._install_running_loop()
        loop._install_asyncgen_hooks()
        # Always a task, also for plain code: asyncio.timeout() and current_task() need one. An eager one, since a turn of the loop
        # through JavaScript costs as much as a small cell.
        asyncio.Task(self._run(count, source), loop=loop, eager_start=True)

    def cancel(self):
        """The interrupt of a cell that waits. Only called while no Python runs."""
        if self._task and not self._task.done():
            self.interrupts += 1
            self._task.cancel()

    def complete(self, before):
        from .completion import complete

        return json.dumps(complete(self._namespace, before))

    def evaluate(self, expression):
        """The text that the expression gives, without a trace; only called while no Python runs."""
        try:
            value = eval(expression, {})
        except Exception:
            return None
        return value if type(value) is str else None

    connect_folder = staticmethod(folder.connect)
    connect_network = staticmethod(network.connect)
    connect_input = staticmethod(questions.connect)
    connect_tools = staticmethod(tools.connect)
    take_of_tool = staticmethod(tools.take)

    async def _run(self, count, source):
        status, shown = "ok", {}
        tools.cell.set(count)
        self._count = self._writer = count
        try:
            self._task = asyncio.current_task()
            self._in_user_code = True
            self._starting = False
            if self._is_interrupted():
                # It came while there was no task yet to take it.
                raise KeyboardInterrupt
            remember_source(count, source)
            self._history.add_input(count, source)
            value = await run_source(source, file_name(count), self._namespace)
            if value is not None:
                self._history.add_output(count, value)
                shown = {"result": display.to_result(value, count)}
            self._in_user_code = False
        except BaseException as error:
            # From here on a signal must not raise: nobody would report the end of the cell.
            self._in_user_code = False
            status, shown = "error", {}
            try:
                status = self._report_error(error)
            except BaseException:
                # Its class or its attributes raise. What leaves this task, a SystemExit above all, would end Python with the next cell.
                self._report({"type": "output", "output": _UNDESCRIBED})
        finally:
            streams.flush()
            self._report({"type": "done", "status": status, **shown})

    def _report_error(self, error):
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return "ok"
        interrupted = self._is_interrupted() and isinstance(error, (asyncio.CancelledError, KeyboardInterrupt))
        if interrupted and isinstance(error, asyncio.CancelledError):
            # A cell that waits is cancelled, which is how asyncio says what Python calls a KeyboardInterrupt.
            error = KeyboardInterrupt().with_traceback(error.__traceback__)
        streams.flush()
        self._report({"type": "output", "output": {"output_type": "error", **describe(error)}})
        return "interrupted" if interrupted else "error"

    def _is_interrupted(self):
        return self.interrupts > self._interrupts_before

    def _on_signal(self, signal_number, frame):
        self.interrupts += 1
        if self._starting:
            # The cell finds it in its first line. Raised now it would hit our own code.
            return
        current, cell = asyncio.current_task(), self._task
        cell_waits = cell is not None and not cell.done() and current is not cell
        if current is cell is not None:
            if self._in_user_code:
                raise KeyboardInterrupt
        elif cell_waits and (current is None or self.interrupts - self._interrupts_before < 2):
            cell.cancel()
        elif current is not None:
            # A task in the background that gives nobody else a turn. Where there is no task, the loop runs, or we.
            raise KeyboardInterrupt

    def tell_writer(self):
        cell = self._cell()
        if cell != self._writer:
            self._writer = cell
            self._post(json.dumps({"type": "writes", "cell": cell}))

    def _cell(self):
        """The cell whose code this is: tasks and callbacks belong to the one that began them, and what nobody knows of to the last one."""
        return tools.cell.get() or self._count

    def _report(self, report):
        report = {**report, "cell": self._cell()}
        for key in ("output", "result"):
            if key in report:
                # Read by the host alone: JavaScript on the way would round its numbers.
                report[key] = json.dumps(report[key], ensure_ascii=False, allow_nan=False)
        self._post(json.dumps(report, ensure_ascii=False))
