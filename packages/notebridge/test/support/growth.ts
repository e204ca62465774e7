import { afterAll, expect, it } from 'vitest';
import { coreAndDeep } from './core-and-deep.js';

/**
 * V8 looks for cycles in what it prints, which takes time in proportion to the square of the depth. A depth of some 6000 overflows its stack, so
 * that this never takes more than 0.2 s.
 */
const deepest = 2000;

/** How a part of a message can be large. `at` gives the part of size n. */
const largeParts: Record<string, (size: number) => unknown> = {
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
  nesting: (size) => Array.from({ length: Math.min(size, deepest) }).reduce<unknown>((inner) => [inner], 0),
  'nested maps': (size) => Array.from({ length: Math.min(size, deepest) }).reduce<unknown>((inner) => ({ x: inner }), 0),
};

export interface Growth {
  size: number;
  /** CPU time of the process, in milliseconds. */
  cpuMs: number;
}

/** The largest size of a message, in characters of its text. The core has half of it: squares show there too. */
const usualMaxBytes = 2 ** 19;

export interface GrowthBounds {
  leastSize?: number;
  maxBytes?: number;
  maxCpuMs?: number;
}

/** Handles messages that double in size, until one has `maxBytes` or takes `maxCpuMs`; what each cost. */
async function growthOf(
  make: (size: number) => unknown,
  handle: (text: string) => unknown,
  { leastSize = 256, maxBytes = usualMaxBytes, maxCpuMs = 2000 }: GrowthBounds = {},
): Promise<Growth[]> {
  const grown: Growth[] = [];
  let before = 0;
  for (let size = leastSize; ; size *= 2) {
    const text = JSON.stringify(make(size));
    // A part that the message has no place for, or that has its full depth, grows no more.
    if (text.length > maxBytes || text.length === before) return grown;
    before = text.length;
    // The less of two: a pause of the garbage collector is not the handler's.
    let cpuMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 2 && cpuMs > 50; round += 1) cpuMs = Math.min(cpuMs, await cpuOf(() => handle(text)));
    grown.push({ size, cpuMs });
    if (cpuMs > maxCpuMs) return grown;
  }
}

/** CPU time of the process while it does the work, in milliseconds. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** See `lastGrowth`: nearer to a square than to a line. */
const tooMuch = 8;

/**
 * How many times the cost has grown over the last two doublings: 4 if it grows with the size, 16 if with its square. What costs less than 100 ms
 * at its largest is not worth a ratio.
 */
function lastGrowth(grown: readonly Growth[]): number {
  const [before, , last] = grown.slice(-3);
  // Too slow before anything could be compared.
  if (grown.length < 3 && grown.some(({ cpuMs }) => cpuMs > 1000)) return Number.POSITIVE_INFINITY;
  if (before === undefined || last === undefined || last.cpuMs < 100) return 0;
  // One collection of garbage more or less is as long.
  return last.cpuMs / Math.max(before.cpuMs, 20);
}

/** For what shows its square only where it is large: how many times the cost of work has grown over two doublings. */
export async function growthOfWork(work: (size: number) => unknown, largest: number): Promise<number> {
  const grown: Growth[] = [];
  for (const size of [largest / 4, largest / 2, largest]) grown.push({ size, cpuMs: await cpuOf(() => work(size)) });
  return lastGrowth(grown);
}

/** A kind of message: its name, the message with a part of any size, and what handles its text. */
export type GrowingKind = [name: string, make: (part: unknown) => unknown, handle: (text: string) => unknown];

/** Tests each kind with each part; the core has one in so many, of every kind and of every part. Prints which took the most. */
export function testGrowth(
  kinds: readonly GrowingKind[],
  { coreHasOneIn, tags: own, bounds = {} }: { coreHasOneIn: number; tags: string[]; bounds?: GrowthBounds },
): void {
  const { maxBytes = usualMaxBytes } = bounds;
  let worst = { what: 'nothing', cpuMs: 0 };
  afterAll(() => process.stdout.write(`growth: the most CPU took ${worst.what}: ${Math.round(worst.cpuMs)} ms\n`));
  const parts = Object.entries(largeParts);
  const cells = kinds.flatMap(([name, make, handle]) => parts.map(([part, of]) => ({ name, part, of, make, handle })));
  for (const { cells: some, tags } of coreAndDeep(cells, (_, index) => (index + Math.floor(index / parts.length)) % coreHasOneIn === 0))
    it.each(some)(
      'costs no more than it is larger: $name is $part',
      { tags: tags.length === 0 ? own : tags },
      async ({ name, part, of, make, handle }) => {
        const measure = (): Promise<Growth[]> =>
          growthOf((size) => make(of(size)), orRefused(handle), { ...bounds, maxBytes: tags.length === 0 ? maxBytes / 2 : maxBytes });
        let grown = await measure();
        // What else the machine does only adds: growth that is too large twice is the handler's.
        if (lastGrowth(grown) >= tooMuch) grown = await measure();
        const cpuMs = Math.max(...grown.map((each) => each.cpuMs));
        if (cpuMs > worst.cpuMs) worst = { what: `${name} as ${part}`, cpuMs };
        expect(lastGrowth(grown), JSON.stringify(grown)).toBeLessThan(tooMuch);
      },
    );
}

/** Handles a text; one that is refused has been handled too, but one that makes the stack overflow has not. */
const orRefused = (handle: (text: string) => unknown) => async (text: string) => {
  try {
    await handle(text);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof RangeError) throw error;
  }
};

/** The texts in a part: of a map, its keys. */
export function textsIn(part: unknown): string[] {
  if (typeof part === 'string') return part.split('\n');
  if (Array.isArray(part)) return part.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  return Object.keys(part as object);
}
