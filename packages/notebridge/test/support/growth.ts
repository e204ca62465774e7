/** How a part of a message can be large. `at` gives the part of size n. */
export const largeParts: Record<string, (size: number) => unknown> = {
  'a list of numbers': (size) => Array.from({ length: size }, (_, index) => index),
  'a list of texts': (size) => Array.from({ length: size }, (_, index) => `text ${index}\n`),
  'a list of maps': (size) => Array.from({ length: size }, (_, index) => ({ key: index })),
  'a map': (size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`key/${index}`, 'x'])),
  'a map of maps': (size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`key/${index}`, { x: index }])),
  'a string': (size) => 'x'.repeat(4 * size),
  'a string of lines': (size) => 'line\n'.repeat(size),
  'a string of spaces': (size) => ' '.repeat(4 * size),
  'a string of controls': (size) => '\r\u001b[1A\u001b[31mx\b'.repeat(size),
  'a string of brackets': (size) => '<a [(`${'.repeat(size),
  nesting: (size) => Array.from({ length: Math.min(size, 4000) }).reduce<unknown>((inner) => [inner], 0),
  'nested maps': (size) => Array.from({ length: Math.min(size, 4000) }).reduce<unknown>((inner) => ({ x: inner }), 0),
};

export interface Growth {
  size: number;
  /** Of the process, milliseconds. */
  cpuMs: number;
}

/** Handles messages that double in size, until one has `maxBytes` or takes `maxCpuMs`; what each cost. */
export async function growthOf(
  make: (size: number) => unknown,
  handle: (text: string) => unknown,
  { maxBytes = 2 ** 19, maxCpuMs = 2000 } = {},
): Promise<Growth[]> {
  const grown: Growth[] = [];
  let before = 0;
  for (let size = 1024; ; size *= 2) {
    const text = JSON.stringify(make(size));
    // A part that the message has no place for, or that has its full depth, grows no more.
    if (text.length > maxBytes || text.length === before) return grown;
    before = text.length;
    // The least of three: a pause of the garbage collector is not the handler's.
    let cpuMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 2 && cpuMs > 50; round += 1) cpuMs = Math.min(cpuMs, await cpuOf(() => handle(text)));
    grown.push({ size, cpuMs });
    if (cpuMs > maxCpuMs) return grown;
  }
}

async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * How many times the cost has grown over the last two doublings: 4 if it grows with the size, 16 if with its square. What costs less than 100 ms
 * at its largest is not worth a ratio.
 */
export function lastGrowth(grown: readonly Growth[]): number {
  const [before, , last] = grown.slice(-3);
  if (before === undefined || last === undefined || last.cpuMs < 100) return 0;
  return last.cpuMs / Math.max(before.cpuMs, 5);
}
