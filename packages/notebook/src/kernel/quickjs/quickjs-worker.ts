/** Entry of the worker thread that runs JavaScript, in a process of its own; see ../worker/node-main.ts. */
import { parentPort } from 'node:worker_threads';
import type { Command, QuickJsStartCommand, Report } from '../messages.js';
import { SignalReceiver } from '../shared-signals.js';
import { refuseNetwork } from '../worker/node-network.js';
import { CodeEngine } from './code-engine.js';

const port = parentPort;
if (!port) throw new Error('quickjs-worker.js is started by node-main.js');

refuseNetwork();
const post = (report: Report) => port.postMessage(report);
const fail = (error: unknown) => post({ type: 'dead', reason: error instanceof Error ? error.message : String(error) });
let opened: Promise<CodeEngine> | undefined;

port.on('message', (message: QuickJsStartCommand | Command) => {
  if (message.type === 'start') opened ??= start(message);
  else opened?.then((engine) => obey(engine, message)).catch(fail);
});
// A fault of WebAssembly leaves QuickJS as it may not be: nothing runs in it any more.
process.on('uncaughtException', fail);

async function start({ signals, maxBytes }: QuickJsStartCommand): Promise<CodeEngine> {
  const engine = await CodeEngine.open({ post, signals: new SignalReceiver(signals), maxBytes });
  post({ type: 'ready', version: 'ES2023' });
  return engine;
}

function obey(engine: CodeEngine, command: Command): void {
  switch (command.type) {
    case 'execute':
      return engine.execute(command.count, command.source);
    case 'interrupt':
      return engine.interrupt(command.count);
    case 'toolPackage':
    case 'toolEvent':
    case 'toolAnswer':
      return engine.take(command);
    case 'complete':
      return post({ type: 'completions', id: command.id, matches: [], word: '' });
    case 'hostAnswer':
      return;
  }
}
