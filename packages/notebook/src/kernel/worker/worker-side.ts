import type { PyodideAPI } from 'pyodide';
import type { Command, Report, StartCommand } from '../messages.js';

export type LoadPyodideOptions = NonNullable<Parameters<typeof import('pyodide')['loadPyodide']>[0]>;

/** What differs between a Worker of a page and a worker thread of Node. */
export interface WorkerSide {
  post: (report: Report) => void;
  onMessage: (listener: (message: StartCommand | Command) => void) => void;
  /** The next message, if one is there, which then comes no other way. Undefined: this runtime cannot, and Python cannot wait without `await`. */
  receiveNow?: () => Command | undefined;
  loadPyodide: (command: StartCommand, options: LoadPyodideOptions) => Promise<PyodideAPI>;
  readText: (url: string) => Promise<string>;
}
