import type { Kernel, KernelState } from '../kernel/kernel.js';
import { within } from '../kernel/within.js';
import { HostError } from '../session/host-error.js';

/*
 * What windows need of the kernel's files, to draw what its packages show. All that comes from there is shown apart from the window.
 */

/** How long a cell that runs is waited for. Milliseconds. */
const idleMs = 60_000;
/** Of a page that an output names. */
const maxPageBytes = 16 * 1024 * 1024;

/** Scripts that packages of Python bring along, by the end of the address at which pages would look for them. */
const packages: readonly (readonly [pattern: RegExp, name: string, toPath: (file: string) => string])[] = [
  [/\/(bokeh(?:-[a-z]+)?)-\d[\w.]*\.js$/, 'bokeh', (file) => `server/static/js/${file}.min.js`],
  [/\/(vis-network)(?:\.min)?\.js$/, 'pyvis', (file) => `templates/lib/vis-9.1.2/${file}.min.js`],
];

/** The library that a page looks for at this address, as base64. Rejects with `kernel_file_unreadable`. */
export async function readLibrary(kernel: Kernel, address: string): Promise<string> {
  for (const [pattern, name, toPath] of packages) {
    const file = pattern.exec(address)?.[1];
    if (file !== undefined)
      return read(
        kernel,
        `__import__("importlib.resources").resources.files(${JSON.stringify(name)}).joinpath(${JSON.stringify(toPath(file))}).read_bytes()`,
        `its library is part of the Python package "${name}", which this kernel does not give now. Run the cell again`,
      );
  }
  throw new HostError('kernel_file_unreadable', 'No package has that library.');
}

/** A page that code has written, as base64. Rejects with `kernel_file_unreadable`. */
export async function readPage(kernel: Kernel, path: string): Promise<string> {
  if (!/\.html?$/i.test(path) || /^[a-z][\w+.-]+:/i.test(path)) throw new HostError('kernel_file_unreadable', 'That is no page of a file.');
  return read(
    kernel,
    `open(${JSON.stringify(path)}, "rb").read(${maxPageBytes})`,
    `the kernel cannot read the page ${path.slice(0, 200)} now. Run the cell again`,
  );
}

async function read(kernel: Kernel, bytes: string, why: string): Promise<string> {
  const isIdle = await waitForIdle(kernel);
  const base64 = isIdle ? await kernel.evaluate?.(`__import__("base64").b64encode(${bytes}).decode()`) : undefined;
  if (base64 !== undefined) return base64;
  throw new HostError('kernel_file_unreadable', why);
}

/** Whether it is idle in the end: an output is shown before its cell has ended. */
async function waitForIdle(kernel: Kernel): Promise<boolean> {
  let stop = (): void => {};
  const rests = new Promise<boolean>((resolve) => {
    const look = (state: KernelState) => (state === 'idle' || state === 'dead') && resolve(state === 'idle');
    stop = kernel.onState(look);
    look(kernel.state);
  });
  const isIdle = await within(idleMs, rests);
  stop();
  return isIdle === true;
}
