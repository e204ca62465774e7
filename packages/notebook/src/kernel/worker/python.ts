/** Loads Pyodide and our Python files into it, and joins the two sides. */
import type { PyodideAPI } from 'pyodide';
import type { Execution } from '../kernel.js';
import type { Hardened, StartCommand } from '../messages.js';
import { pythonFiles } from '../python-files.js';
import type { SignalReceiver } from '../shared-signals.js';
import { PlainAbortSignal } from './abort-signal.js';
import { folderInside, mountFolder, type TellRefusal } from './folder-fs.js';
import { createHostFetch } from './host-fetch.js';
import type { HostPort } from './host-port.js';
import { createJsGlobals, jsClasses } from './js-globals.js';
import type { OutputPump } from './output-pump.js';
import type { PythonTools } from './tool-port.js';
import type { LoadPyodideOptions, WorkerSide } from './worker-side.js';

/** `notebridge_kernel.Kernel`. */
export interface PythonKernel extends PythonTools {
  /** How many interrupts it has had. */
  readonly interrupts: number;
  execute(count: number, source: string, interruptsBefore: number): void;
  cancel(): void;
  complete(before: string): string;
  evaluate(expression: string): unknown;
  connect_network(port: object): void;
  connect_input(port: object): void;
  connect_folder(path: string, refusal: TellRefusal): void;
}

/** What `notebridge_kernel` posts, as JSON. `cell`: whose code it was. Outputs are JSON within it. */
type PythonReport =
  | { type: 'output'; cell: number; output: string; displayId?: string; update?: boolean }
  | { type: 'clear'; cell: number; wait: boolean }
  /** What it writes from now on. */
  | { type: 'writes'; cell: number }
  | { type: 'done'; status: Execution['status']; result?: string };

export interface LoadedPython {
  kernel: PythonKernel;
  pyodide: PyodideAPI;
  version: string;
  hardened: Hardened | undefined;
  slowStart: string | undefined;
}

interface PythonFile {
  path: string;
  text: string;
}

/** `notebridge_kernel`. */
interface PythonModule {
  start(post: object, pause: object): PythonKernel;
}

interface Joints {
  signals: SignalReceiver;
  pump: OutputPump;
  host: HostPort;
  fail: (reason: unknown) => void;
}

const pythonFolder = '/lib/notebridge';

export async function loadPython(side: WorkerSide, command: StartCommand, joints: Joints): Promise<LoadedPython> {
  const { hardening, fetchOrigins } = command;
  const jsglobals =
    hardening === false ? globalThis : createJsGlobals(command.network ? createHostFetch(joints.host) : side.sendRequest(fetchOrigins));
  const [{ pyodide, slowStart }, files] = await Promise.all([
    side.loadPyodide(command, pyodideOptions(jsglobals)),
    readPythonFiles(side.readText, command.pythonUrl),
  ]);
  renewTimeZone(pyodide);
  forgetCapabilities(pyodide, hardening !== false);
  const hardened = side.protect(command, [jsglobals, ...jsClasses]);
  joinStreams(pyodide, joints);
  joinInterrupts(pyodide, joints);
  const kernel = startKernel(importKernel(pyodide, files), joints);
  if (command.network) kernel.connect_network(joints.host.toPython('network'));
  if (joints.host.canWait) kernel.connect_input(joints.host.toPython('input'));
  if (command.files && joints.host.canWait) kernel.connect_folder(folderInside, mountFolder(pyodide, joints.host));
  const version = pyodide.runPython('import sys; sys.version.split()[0]') as string;
  return { kernel, pyodide, version, hardened, slowStart };
}

export function pyodideOptions(jsglobals: object): LoadPyodideOptions {
  return {
    env: { HOME: '/home/pyodide' },
    // The `js` module: not the global object, through which Python would hold all that we hold.
    jsglobals,
    // Stack switching is there in some runtimes only; without it the same cell does the same in all of them.
    enableRunUntilComplete: false,
  };
}

/** Files are no part of a snapshot, what was imported is: in a Python that begins with one the second half does nothing. */
export function importKernel(pyodide: PyodideAPI, files: readonly PythonFile[]): PythonModule {
  for (const { path, text } of files) writeFile(pyodide, `${pythonFolder}/${path}`, text);
  pyodide.runPython(`import sys; sys.path.count(${JSON.stringify(pythonFolder)}) or sys.path.append(${JSON.stringify(pythonFolder)})`);
  return pyodide.pyimport('notebridge_kernel');
}

interface Insides {
  _api: { runtimeEnv: object; config: object };
  _module: {
    LDSO: { loadedLibsByName: { __main__: { exports: object } } };
    HEAPU32: Uint32Array;
    __tzset_js: (timezone: number, daylight: number, standardName: number, summerName: number) => void;
    _timezone: number;
    _daylight: number;
    _tzname: number;
  };
}

/** C asks for it once: in a snapshot that was where it was taken. */
function renewTimeZone(pyodide: PyodideAPI): void {
  const module = (pyodide as unknown as Insides)._module;
  const names = module._tzname / 4;
  const [standardName = 0, summerName = 0] = module.HEAPU32.subarray(names, names + 2);
  module.__tzset_js(module._timezone, module._daylight, standardName, summerName);
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
  // The memory that it began with, in bytes of JavaScript.
  Reflect.deleteProperty(api.config, '_loadSnapshot');
  // What made all that: `ctypes` could call it again.
  Reflect.deleteProperty(module.LDSO.loadedLibsByName.__main__.exports, 'pyodide_js_init');
}

export function readPythonFiles(readText: WorkerSide['readText'], pythonUrl: string): Promise<PythonFile[]> {
  return Promise.all(pythonFiles.map(async (path) => ({ path, text: await readText(new URL(path, pythonUrl).href) })));
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

function startKernel(module: PythonModule, { signals, pump }: Joints): PythonKernel {
  const post = (given: unknown) => {
    // Python's own code passes a text; other code may have found this function.
    const json = `${given}`;
    const report = JSON.parse(json) as PythonReport;
    switch (report.type) {
      case 'output':
        return pump.show(report, json.length);
      case 'clear':
        return pump.clear(report);
      case 'writes':
        return pump.setWriter(report.cell);
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
  return module.start(Object.freeze(post), Object.freeze(pause));
}
