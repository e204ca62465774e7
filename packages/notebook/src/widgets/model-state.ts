import { isJsonObject } from '@notebridge/protocol/json';

/** Where in a model's state a binary value stands: the attribute first. */
export type BufferPath = readonly (string | number)[];

/** A part of a model's state, as messages of widgets have it: binary values are beside it, and missing or null within. */
export interface StatePart {
  readonly state: { readonly [attribute: string]: unknown };
  readonly bufferPaths: readonly BufferPath[];
  readonly buffers: readonly Uint8Array[];
}

interface Attribute {
  readonly value: unknown;
  readonly buffers: readonly (readonly [BufferPath, Uint8Array])[];
  /** The ids of the models that it names. */
  readonly references: ReadonlySet<string>;
  /** About what it takes. */
  readonly bytes: number;
}

/** What a message says of a state; undefined for one that says nothing. */
export function parseStatePart(data: unknown, buffers: readonly Uint8Array[]): StatePart | undefined {
  if (!isJsonObject(data) || !isJsonObject(data.state)) return undefined;
  const paths = Array.isArray(data.buffer_paths) ? data.buffer_paths.filter(isPath) : [];
  return { state: data.state, bufferPaths: paths.slice(0, buffers.length), buffers: buffers.slice(0, paths.length) };
}

/** The state of one model of a widget, attribute by attribute. */
export class ModelState {
  readonly #attributes = new Map<string, Attribute>();
  #bytes = 0;
  #references: ReadonlySet<string> | undefined;

  /** About what it takes. */
  get bytes(): number {
    return this.#bytes;
  }

  get(attribute: string): unknown {
    return this.#attributes.get(attribute)?.value;
  }

  has(attribute: string): boolean {
    return this.#attributes.has(attribute);
  }

  /** Returns the names of what was set. */
  set({ state, bufferPaths, buffers }: StatePart): string[] {
    const names = new Set([...Object.keys(state), ...bufferPaths.map(([name]) => String(name))]);
    const allBuffers = new Map<string | number | undefined, [BufferPath, Uint8Array][]>();
    for (const [index, path] of bufferPaths.entries()) {
      const own = allBuffers.get(path[0]) ?? [];
      allBuffers.set(path[0], own);
      own.push([path, buffers[index] as Uint8Array]);
    }
    for (const name of names) {
      const own = allBuffers.get(name) ?? [];
      const value = Object.hasOwn(state, name) ? state[name] : undefined;
      const references = new Set<string>();
      collectReferences(value, references);
      const ofBuffers = own.reduce((sum, [path, buffer]) => sum + sizeOf(path) + buffer.byteLength, 0);
      const bytes = attributeBytes + 2 * name.length + sizeOf(value) + entryBytes * references.size + ofBuffers;
      this.#bytes += bytes - (this.#attributes.get(name)?.bytes ?? 0);
      this.#attributes.set(name, { value, buffers: own, references, bytes });
    }
    this.#references = undefined;
    return [...names];
  }

  /** Default: all of it. */
  part(names: Iterable<string> = this.#attributes.keys()): StatePart {
    const found = [...names].flatMap((name) => {
      const attribute = this.#attributes.get(name);
      return attribute ? [[name, attribute] as const] : [];
    });
    const buffers = found.flatMap(([, attribute]) => attribute.buffers);
    return {
      state: Object.fromEntries(found.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]]))),
      bufferPaths: buffers.map(([path]) => path),
      buffers: buffers.map(([, buffer]) => buffer),
    };
  }

  /** The ids of the models that it names. */
  references(): ReadonlySet<string> {
    this.#references ??= new Set([...this.#attributes.values()].flatMap(({ references }) => [...references]));
    return this.#references;
  }
}

const referencePrefix = 'IPY_MODEL_';
/** Deeper than any widget names another. */
const maxDepth = 20;

function collectReferences(value: unknown, found: Set<string>, depth = 0): void {
  if (typeof value === 'string') {
    if (value.startsWith(referencePrefix)) found.add(value.slice(referencePrefix.length));
  } else if (typeof value === 'object' && value !== null && depth < maxDepth) {
    for (const each of Object.values(value)) collectReferences(each, found, depth + 1);
  }
}

/** What Node keeps for each, about, also where it is empty. */
const attributeBytes = 200;
const entryBytes = 64;

function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return 2 * value.length + 16;
  if (typeof value !== 'object' || value === null || depth > 200) return 8;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + sizeOf(each, depth + 1), entryBytes);
  return Object.entries(value).reduce((sum, [key, each]) => sum + 2 * key.length + 16 + sizeOf(each, depth + 1), entryBytes);
}

function isPath(path: unknown): path is BufferPath {
  return Array.isArray(path) && path.length > 0 && path.every((step) => typeof step === 'string' || typeof step === 'number');
}
