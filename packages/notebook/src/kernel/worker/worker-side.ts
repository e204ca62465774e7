import type { PyodideAPI } from 'pyodide';
import type { Command, Hardened, SentReport, StartCommand } from '../messages.js';
import type { SendRequest } from './js-globals.js';

export type LoadPyodideOptions = NonNullable<Parameters<typeof import('pyodide')['loadPyodide']>[0]>;

/** What differs between a Worker of a page and a worker thread of Node. */
export interface WorkerSide {
  post: (report: SentReport) => void;
  onMessage: (listener: (message: StartCommand | Command) => void) => void;
  /** The next message, if one is there, which then comes no other way. Undefined: this runtime cannot, and Python cannot wait without `await`. */
  receiveNow?: () => Command | undefined;
  /** `slowStart`: why Python does not begin with the memory of its snapshot. In a page it never does. */
  loadPyodide: (command: StartCommand, options: LoadPyodideOptions) => Promise<{ pyodide: PyodideAPI; slowStart?: string | undefined }>;
  /** What sends the requests of Python's `fetch`. Asked before Pyodide is loaded. */
  sendRequest: (fetchOrigins: readonly string[]) => SendRequest;
  /** Closes what leads from JavaScript to the host. Called once, when Pyodide is loaded and no code of the user has run. `ours`: what Python will hold of ours. */
  protect: (command: StartCommand, ours: readonly object[]) => Hardened | undefined;
  readText: (url: string) => Promise<string>;
}
