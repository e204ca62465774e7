/** A program that opens a notebook as people use it, and saves it when it is asked to, or ends. Prints the address of a window. */

import { windowSeatsIn } from '../../../src/host/kept-files.js';
import { createNotebookHost } from '../../../src/host/notebook-host.js';
import { ToyKernel } from './toy-kernel.js';

const [file, uiFolder = '', state = ''] = process.argv.slice(2);
const never = 1e9;
const host = createNotebookHost({
  ...{ file, uiFolder, kernel: new ToyKernel(), seats: windowSeatsIn(state) },
  timing: { quietMs: never, longestMs: never },
});
await host.start();
process.stdout.write(`${host.url}\n`);
process.stdin.once('end', () => void host.close()).resume();
