/** Takes from the real `process` object of this thread what acts. Python does not hold it, but Node's own code hands it about. */

/** Node's own code asks for these while the thread lives: to queue work, and to decide what to do about an error. */
const kept = new Set<PropertyKey>([
  'nextTick',
  '_tickCallback',
  '_fatalException',
  '_events',
  '_eventsCount',
  '_maxListeners',
  '_exiting',
  'exitCode',
  'domain',
  'hrtime',
  'version',
  'versions',
  'platform',
  'arch',
]);

export function emptyProcess(process: NodeJS.Process): void {
  const inert = Object.freeze(() => {});
  for (const key of Reflect.ownKeys(process)) {
    if (kept.has(key)) continue;
    const { configurable, writable } = Object.getOwnPropertyDescriptor(process, key) ?? {};
    // A warning is written by way of the streams and read for its options: nobody sees it here.
    if (key === 'emitWarning') Object.defineProperty(process, key, { value: inert, writable: false, configurable: false });
    else if (configurable) Reflect.deleteProperty(process, key);
    else if (writable) Object.defineProperty(process, key, { value: undefined, writable: false });
  }
  Object.preventExtensions(process);
}
