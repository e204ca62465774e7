/** The worker: loads Python, then carries out commands, one cell at a time. The same in a page and in Node. */
import type { Command, StartCommand } from '../messages.js';
import { SignalReceiver } from '../shared-signals.js';
import { HostPort } from './host-port.js';
import { Mailbox } from './mailbox.js';
import { nothingTaken, OutFolder } from './out-folder.js';
import { OutputPump } from './output-pump.js';
import { loadPython } from './python.js';
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
    const mailbox: Mailbox = new Mailbox(side, { signals, flush: () => pump.flush(), obey: (next) => obey(next) });
    const host = new HostPort(mailbox);
    const { kernel, pyodide, version, hardened, slowStart } = await loadPython(side, command, { signals, pump, host, fail });
    const out = command.out ? new OutFolder(pyodide) : undefined;
    const tools = new ToolPort({ pyodide, python: kernel, mailbox });
    const obey = (next: Command): void => {
      switch (next.type) {
        case 'execute': {
          signals.keepInterruptOf(next.count);
          const before = kernel.interrupts;
          // It may be there already. Taken before Python runs, or it would hit our own code in there.
          const interrupted = signals.takeInterrupt();
          pump.begin(next.count);
          return kernel.execute(next.count, next.source, before - Number(interrupted));
        }
        case 'interrupt':
          // We are here, so Python waits. Is the flag gone, it has had its KeyboardInterrupt while it computed.
          signals.keepInterruptOf(next.count);
          if (signals.takeInterrupt() || !signals.shared) kernel.cancel();
          return;
        case 'complete':
          return side.post({ type: 'completions', id: next.id, ...JSON.parse(kernel.complete(next.before)) });
        case 'evaluate': {
          const value = kernel.evaluate(next.expression);
          return side.post({ type: 'evaluated', id: next.id, value: typeof value === 'string' ? value : undefined });
        }
        case 'takeWritten':
          return side.post({ type: 'written', id: next.id, ...(out?.take(next.bounds) ?? nothingTaken()) });
        case 'hostAnswer':
          return host.take(next);
        case 'toolPackage':
        case 'toolEvent':
        case 'toolAnswer':
          return tools.take(next);
      }
    };
    side.post({ type: 'ready', version, hardened, slowStart });
    return (next: Command) => mailbox.take(next);
  } catch (error) {
    fail(error);
    throw error;
  }
}
