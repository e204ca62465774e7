/** Loads Pyodide and our Python files into it, and joins the two sides. */
import type { PyodideAPI } from 'pyodide';
import type { Execution, Output } from '../kernel.js';
import type { StartCommand } from '../messages.js';
import type { SignalReceiver } from '../shared-signals.js';
import { createJsGlobals } from './js-globals.js';
import { lockDown } from './lock-down.js';
import type { OutputPump } from './output-pump.js';
import type { PythonTools } from './tool-port.js';
import type { WorkerSide } from './worker-side.js';

/** `notebridge_kernel.Kernel`. */
export interface PythonKernel extends PythonTools {
  execute(count: number, source: string, interrupted: boolean): void;
  cancel(): void;
  complete(before: string): string;
}

/** What `notebridge_kernel` posts, as JSON. */
type PythonReport =
  | { type: 'output'; output: Output; displayId?: string; update?: boolean }
  | { type: 'clear'; wait: boolean }
  | { type: 'done'; status: Execution['status']; result?: Output };

export interface LoadedPython {
  kernel: PythonKernel;
  pyodide: PyodideAPI;
  version: string;
}

interface Joints {
  signals: SignalReceiver;
  pump: OutputPump;
  fail: (reason: unknown) => void;
}

const pythonFolder = '/lib/notebridge';
const pythonFiles = [
  'IPython/__init__.py',
  'IPython/display.py',
  ...[
    '__init__',
    'cells',
    'completion',
    'display',
    'environment',
    'formats',
    'kernel',
    'magics',
    'pretty',
    'streams',
    'tools',
    'tracebacks',
  ].map((name) => `notebridge_kernel/${name}.py`),
];

export async function loadPython(side: WorkerSide, command: StartCommand, joints: Joints): Promise<LoadedPython> {
  const [pyodide, files] = await Promise.all([
    side.loadPyodide(command, {
      env: { HOME: '/home/pyodide' },
      // The `js` module: not the global object, through which Python would hold all that we hold.
      jsglobals: createJsGlobals(command.fetchOrigins),
      // Stack switching is there in some runtimes only; without it the same cell does the same in all of them.
      enableRunUntilComplete: false,
    }),
    readFiles(side, command.pythonUrl),
  ]);
  for (const { path, text } of files) writeFile(pyodide, `${pythonFolder}/${path}`, text);
  joinStreams(pyodide, joints);
  joinInterrupts(pyodide, joints);
  pyodide.runPython(`import sys; sys.path.append(${JSON.stringify(pythonFolder)})`);
  const kernel = startKernel(pyodide, joints);
  lockDown();
  return { kernel, pyodide, version: pyodide.runPython('import sys; sys.version.split()[0]') as string };
}

function readFiles(side: WorkerSide, pythonUrl: string) {
  return Promise.all(pythonFiles.map(async (path) => ({ path, text: await side.readText(new URL(path, pythonUrl).href) })));
}

function writeFile({ FS }: PyodideAPI, path: string, text: string): void {
  FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
  FS.writeFile(path, text);
}

function joinStreams(pyodide: PyodideAPI, { pump }: Joints): void {
  pyodide.setStdin({ error: true });
  pyodide.setStdout({ write: (bytes) => pump.write('stdout', bytes) });
  pyodide.setStderr({ write: (bytes) => pump.write('stderr', bytes) });
}

function joinInterrupts(pyodide: PyodideAPI, { signals, pump, fail }: Joints): void {
  const sigint = 2;
  // Python reads place 0 of this many times a second while it computes, and takes what it finds for a signal. So it is also
  // the one moment in a long computation when gathered output can be sent.
  const polled = {
    get 0() {
      pump.tick();
      return signals.takeInterrupt() ? sigint : 0;
    },
    set 0(_value: number) {},
  };
  pyodide.setInterruptBuffer(polled as unknown as Int32Array);
  // Called when Python can't go on: os._exit, a stack overflow in C, a fault of the interpreter.
  const api = (pyodide as unknown as { _api: { on_fatal?: (error: unknown) => void } })._api;
  api.on_fatal = (error) => {
    pump.flush();
    fail(fatalReason(error));
  };
}

function fatalReason(error: unknown): string {
  const { name, message, status } = error as { name?: string; message?: string; status?: unknown };
  return status === undefined ? `Python failed: ${name ?? 'Error'}: ${message ?? error}` : `Python ended itself with status ${status}`;
}

function startKernel(pyodide: PyodideAPI, { signals, pump }: Joints): PythonKernel {
  const post = (json: string) => {
    const report = JSON.parse(json) as PythonReport;
    switch (report.type) {
      case 'output':
        return pump.show(report, json.length);
      case 'clear':
        return pump.clear(report.wait);
      case 'done':
        return pump.end(report, json.length);
    }
  };
  /** Answers whether an interrupt ended it. */
  const pause = (ms: number) => {
    pump.flush();
    if (ms > 0) signals.sleep(ms);
    return signals.takeInterrupt();
  };
  const module = pyodide.pyimport('notebridge_kernel');
  return module.start(post, pause) as PythonKernel;
}
