/** The worker: loads Python, then carries out commands, one cell at a time. The same in a page and in Node. */
import type { Command, StartCommand } from '../messages.js';
import { SignalReceiver } from '../shared-signals.js';
import { HostPort } from './host-port.js';
import { Mailbox } from './mailbox.js';
import { nothingTaken, OutFolder } from './out-folder.js';
import { OutputPump } from './output-pump.js';
import { loadPython, type PythonKernel } from './python.js';
import { ToolPort } from './tool-port.js';
import type { WorkerSide } from './worker-side.js';

export function serve(side: WorkerSide): void {
  let ready: Promise<(command: Command) => void> | undefined;
  const fail = (error: unknown) => side.post({ type: 'dead', reason: error instanceof Error ? error.message : String(error) });
  side.onMessage((message) => {
    if (message.type === 'start') ready ??= start(side, message, fail);
    // A command that comes too early waits; an error in here is one of ours or of Pyodide, and nothing works after it.
    else ready?.then((obey) => obey(message)).catch(fail);
  });
}

async function start(side: WorkerSide, command: StartCommand, fail: (error: unknown) => void) {
  try {
    const signals = new SignalReceiver(command.signals);
    const pump = new OutputPump({ post: side.post, signals });
    // Commands come once Python is there, which wants to know its host while it loads.
    const mailbox: Mailbox = new Mailbox(side, { signals, obey: (next) => obey(next, { side, kernel, signals, pump, host, tools, out }) });
    const host = new HostPort({ mailbox, post: side.post, flush: () => pump.flush() });
    const { kernel, pyodide, version, hardened, slowStart } = await loadPython(side, command, { signals, pump, host, fail });
    const out = command.out ? new OutFolder(pyodide) : undefined;
    const tools = new ToolPort({ pyodide, python: kernel, mailbox, post: side.post, flush: () => pump.flush() });
    side.post({ type: 'ready', version, hardened, slowStart });
    return (next: Command) => mailbox.take(next);
  } catch (error) {
    fail(error);
    throw error;
  }
}

interface Parts {
  side: WorkerSide;
  kernel: PythonKernel;
  signals: SignalReceiver;
  pump: OutputPump;
  host: HostPort;
  tools: ToolPort;
  /** Undefined: there is none. */
  out: OutFolder | undefined;
}

function obey(command: Command, { side, kernel, signals, pump, host, tools, out }: Parts): void {
  switch (command.type) {
    case 'execute': {
      signals.keepInterruptOf(command.count);
      const before = kernel.interrupts;
      // It may be there already. Taken before Python runs, or it would hit our own code in there.
      const interrupted = signals.takeInterrupt();
      pump.begin(command.count);
      kernel.execute(command.count, command.source, before - Number(interrupted));
      return;
    }
    case 'interrupt':
      // We are here, so Python waits. Is the flag gone, it has had its KeyboardInterrupt while it computed.
      signals.keepInterruptOf(command.count);
      if (signals.takeInterrupt() || !signals.shared) kernel.cancel();
      return;
    case 'complete':
      side.post({ type: 'completions', id: command.id, ...JSON.parse(kernel.complete(command.before)) });
      return;
    case 'evaluate': {
      const value = kernel.evaluate(command.expression);
      side.post({ type: 'evaluated', id: command.id, ...(typeof value === 'string' ? { value } : {}) });
      return;
    }
    case 'takeWritten':
      side.post({ type: 'written', id: command.id, ...(out?.take(command.bounds) ?? nothingTaken()) });
      return;
    case 'hostAnswer':
      host.take(command);
      return;
    case 'toolPackage':
    case 'toolEvent':
    case 'toolAnswer':
      tools.take(command);
      return;
  }
}
