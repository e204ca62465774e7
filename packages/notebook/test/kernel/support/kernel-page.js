// @ts-check
/** The page of the Chromium tests: a kernel, and functions for the test to reach it. */

/** @typedef {import('../../../src/kernel/pyodide-kernel.js').PyodideKernel} PyodideKernel */
/** @typedef {(id: number, event: unknown) => Promise<void>} Report */

const kernelUrl = '/kernel/browser-kernel.js';
const measureUrl = '/test/kernel-harness.js';
const page = /** @type {any} */ (globalThis);

/** @type {PyodideKernel} */
let kernel;
/** @type {Map<number, AbortController>} */
const running = new Map();

/** @param {number} interruptGraceMs */
page.openKernel = async (interruptGraceMs) => {
  const { createBrowserKernel } = await import(kernelUrl);
  const [indexUrl, stdlibUrl] = ['/pyodide/', '/stdlib.zip'].map((path) => new URL(path, location.href));
  kernel = createBrowserKernel({ indexUrl, stdlibUrl, interruptGraceMs });
  page.kernel = kernel;
  kernel.onState((state) => page.reportState(state));
};

/**
 * @param {number} id
 * @param {string} source
 */
page.runCell = async (id, source) => {
  /** @type {Report} */
  const report = page.reportEvent;
  /** @type {Promise<void>[]} */
  const reported = [];
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const execution = await kernel.execute(source, {
      onOutput: (output, displayId) => reported.push(report(id, { type: 'output', output, displayId })),
      onClear: (wait) => reported.push(report(id, { type: 'clear', wait })),
      onUpdate: (displayId, output) => reported.push(report(id, { type: 'update', output, displayId })),
      signal: controller.signal,
    });
    return { execution };
  } catch (error) {
    const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
    return { error: { code, message } };
  } finally {
    await Promise.all(reported);
    running.delete(id);
  }
};

/** @param {number} id */
page.abortCell = (id) => running.get(id)?.abort();

/**
 * @param {string} source
 * @param {import('./kernel-harness.js').MeasureOptions} options
 */
page.measureCell = async (source, options) => (await import(measureUrl)).measure(kernel, source, options);
