import type { Kernel } from '../kernel/kernel.js';
import { HostError } from '../session/host-error.js';

/** How long a cell that runs is waited for. Milliseconds. */
const idleMs = 60_000;
/** Of a page that an output names. */
const maxPageBytes = 16 * 1024 * 1024;

/** Scripts that packages of Python bring along, by the end of the address at which pages would look for them. */
const packages: readonly (readonly [pattern: RegExp, name: string, toPath: (file: string) => string])[] = [
  [/\/(bokeh(?:-[a-z]+)?)-\d[\w.]*\.js$/, 'bokeh', (file) => `server/static/js/${file}.min.js`],
  [/\/(vis-network)(?:\.min)?\.js$/, 'pyvis', (file) => `templates/lib/vis-9.1.2/${file}.min.js`],
];

/** What windows need of the kernel's files, to draw what its packages show. All that comes from there is shown apart from the window. */
export class ChartFiles {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The library that a page looks for at this address, as base64. Rejects with `kernel_file_unreadable`. */
  async readLibrary(address: string): Promise<string> {
    for (const [pattern, name, toPath] of packages) {
      const file = pattern.exec(address)?.[1];
      if (file !== undefined)
        return this.#read(
          `__import__("importlib.resources").resources.files(${JSON.stringify(name)}).joinpath(${JSON.stringify(toPath(file))}).read_bytes()`,
          `its library is part of the Python package "${name}", which this kernel does not give now. Run the cell again`,
        );
    }
    throw new HostError('kernel_file_unreadable', 'No package has that library.');
  }

  /** A page that code has written, as base64. Rejects with `kernel_file_unreadable`. */
  async readPage(path: string): Promise<string> {
    if (!/\.html?$/i.test(path) || /^[a-z][\w+.-]+:/i.test(path))
      throw new HostError('kernel_file_unreadable', 'That is no page of a file.');
    return this.#read(
      `open(${JSON.stringify(path)}, "rb").read(${maxPageBytes})`,
      `the kernel cannot read the page ${path.slice(0, 200)} now. Run the cell again`,
    );
  }

  async #read(bytes: string, why: string): Promise<string> {
    const isIdle = await waitForIdle(this.#kernel);
    const base64 = isIdle ? await this.#kernel.evaluate?.(`__import__("base64").b64encode(${bytes}).decode()`) : undefined;
    if (base64 !== undefined) return base64;
    throw new HostError('kernel_file_unreadable', why);
  }
}

/** Whether it is idle in the end: an output is shown before its cell has ended. */
async function waitForIdle(kernel: Kernel): Promise<boolean> {
  if (kernel.state === 'idle') return true;
  return new Promise((resolve) => {
    const end = (isIdle: boolean) => {
      clearTimeout(timer);
      stop();
      resolve(isIdle);
    };
    const timer = setTimeout(() => end(false), idleMs).unref();
    const stop = kernel.onState((state) => (state === 'idle' || state === 'dead') && end(state === 'idle'));
    if (kernel.state === 'dead') end(false);
  });
}
