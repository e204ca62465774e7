/** Loads Pyodide and our Python files into it, and joins the two sides. */
import type { PyodideAPI } from 'pyodide';
import type { Execution, Output } from '../kernel.js';
import type { Hardened, StartCommand } from '../messages.js';
import type { SignalReceiver } from '../shared-signals.js';
import { PlainAbortSignal } from './abort-signal.js';
import { folderInside, mountFolder, type TellRefusal } from './folder-fs.js';
import { createHostFetch, createNetworkPort } from './host-fetch.js';
import type { HostPort } from './host-port.js';
import { createJsGlobals, jsClasses } from './js-globals.js';
import type { OutputPump } from './output-pump.js';
import type { PythonTools } from './tool-port.js';
import type { WorkerSide } from './worker-side.js';

/** `notebridge_kernel.Kernel`. */
export interface PythonKernel extends PythonTools {
  /** How many interrupts it has had. */
  readonly interrupts: number;
  execute(count: number, source: string, interruptsBefore: number): void;
  cancel(): void;
  complete(before: string): string;
  connect_network(port: object): void;
  connect_folder(path: string, refusal: TellRefusal): void;
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
  hardened: Hardened | undefined;
}

interface Joints {
  signals: SignalReceiver;
  pump: OutputPump;
  host: HostPort;
  fail: (reason: unknown) => void;
}

const pythonFolder = '/lib/notebridge';
const pythonFiles = [
  'IPython/__init__.py',
  'IPython/display.py',
  'micropip/__init__.py',
  ...[
    '__init__',
    'cells',
    'completion',
    'display',
    'environment',
    'folder',
    'formats',
    'installer',
    'kernel',
    'magics',
    'network',
    'package_index',
    'packages',
    'pretty',
    'streams',
    'tools',
    'tracebacks',
    'versions',
  ].map((name) => `notebridge_kernel/${name}.py`),
];

export async function loadPython(side: WorkerSide, command: StartCommand, joints: Joints): Promise<LoadedPython> {
  const { hardening, fetchOrigins } = command;
  const jsglobals =
    hardening === false ? globalThis : createJsGlobals(command.network ? createHostFetch(joints.host) : side.sendRequest(fetchOrigins));
  const [pyodide, files] = await Promise.all([
    side.loadPyodide(command, {
      env: { HOME: '/home/pyodide' },
      // The `js` module: not the global object, through which Python would hold all that we hold.
      jsglobals,
      // Stack switching is there in some runtimes only; without it the same cell does the same in all of them.
      enableRunUntilComplete: false,
    }),
    readFiles(side, command.pythonUrl),
  ]);
  forgetCapabilities(pyodide, hardening !== false);
  const hardened = side.protect(command, [jsglobals, ...jsClasses]);
  for (const { path, text } of files) writeFile(pyodide, `${pythonFolder}/${path}`, text);
  joinStreams(pyodide, joints);
  joinInterrupts(pyodide, joints);
  pyodide.runPython(`import sys; sys.path.append(${JSON.stringify(pythonFolder)})`);
  const kernel = startKernel(pyodide, joints);
  if (command.network) kernel.connect_network(createNetworkPort(joints.host));
  if (command.files && joints.host.canWait) kernel.connect_folder(folderInside, mountFolder(pyodide, joints.host));
  return { kernel, pyodide, version: pyodide.runPython('import sys; sys.version.split()[0]') as string, hardened };
}

interface Insides {
  _api: { runtimeEnv: object };
  _module: { LDSO: { loadedLibsByName: { __main__: { exports: object } } } };
}

/** Pyodide keeps what a host of its own may want. None of it is used here, and some leads on to Node. */
function forgetCapabilities(pyodide: PyodideAPI, isPlain: boolean): void {
  const { _api: api, _module: module } = pyodide as unknown as Insides;
  const fix = (name: string, value: unknown) => Object.defineProperty(api, name, { value, writable: false, configurable: false });
  // Sockets on demand, by modules of Node.
  fix('initializeNodeSockFS', undefined);
  // Constructors, as they were before they were replaced.
  fix('tests', undefined);
  // The runtime's own class of signals, and ports of the runtime by it.
  if (isPlain) fix('abortSignalAny', PlainAbortSignal.any);
  // What says that this is not Node.
  fix('runtimeEnv', Object.freeze(api.runtimeEnv));
  // What made all that: `ctypes` could call it again.
  Reflect.deleteProperty(module.LDSO.loadedLibsByName.__main__.exports, 'pyodide_js_init');
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
  const post = (given: unknown) => {
    // Python's own code passes a text; other code may have found this function.
    const json = `${given}`;
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
  return module.start(Object.freeze(post), Object.freeze(pause)) as PythonKernel;
}
