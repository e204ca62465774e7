/**
 * Takes from the worker's global scope what Python has no business with, once Pyodide is loaded. A second line behind the
 * `js` module: code that gets hold of a JavaScript object finds no way to new code, to the network or to the process.
 * What counts as a boundary, and what does not, is described in the README of the kernel.
 */
export function lockDown(): undefined {
  for (const name of hidden) hide(globalThis, name);
  // Emscripten notes the status of os._exit in here.
  if ('process' in globalThis) hide(globalThis, 'process', {});
  // `anything.constructor.constructor("code")` is the classic way from any object to new code.
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}])
    hide(Object.getPrototypeOf(sample), 'constructor');
}

const hidden = [
  'eval',
  'require',
  'module',
  'fetch',
  'XMLHttpRequest',
  'WebSocket',
  'WebSocketStream',
  'WebTransport',
  'EventSource',
  'RTCPeerConnection',
  'BroadcastChannel',
  'Worker',
  'SharedWorker',
  'importScripts',
  'postMessage',
  'close',
  'indexedDB',
  'caches',
  'cookieStore',
  'navigator',
  'location',
];

function hide(holder: object, name: string, value?: object): void {
  try {
    Object.defineProperty(holder, name, { value, writable: false, configurable: false });
  } catch {
    // Not ours to change in this runtime.
  }
}
