import * as Y from './yjs.js';

/** What a collaboration room sends and takes: y-protocols' `sync` and `awareness`, and texts of jupyter-collaboration's own. */
export type RoomMessage =
  /** The other side's state: it asks for what it does not have. */
  | { readonly type: 'state'; readonly vector: Uint8Array }
  /** What we asked for. */
  | { readonly type: 'missing'; readonly update: Uint8Array }
  | { readonly type: 'update'; readonly update: Uint8Array }
  | { readonly type: 'awareness'; readonly clients: readonly AwarenessState[] }
  | { readonly type: 'text'; readonly text: string };

/** What a client says of itself; `state` null: it is gone. */
export interface AwarenessState {
  readonly clientId: number;
  readonly clock: number;
  readonly state: unknown;
}

const [syncType, awarenessType, textType] = [0, 1, 2];
const [stateStep, missingStep, updateStep] = [0, 1, 2];

/** Undefined for a message of a kind that we do not know. Throws RangeError for one that is cut short. */
export function parseRoomMessage(data: Uint8Array): RoomMessage | undefined {
  const reader = new ByteReader(data);
  const type = reader.number();
  if (type === textType) return { type: 'text', text: reader.text() };
  if (type === awarenessType) return { type: 'awareness', clients: parseAwareness(reader.bytes()) };
  if (type !== syncType) return undefined;
  const step = reader.number();
  const bytes = reader.bytes();
  if (step === stateStep) return { type: 'state', vector: bytes };
  if (step === missingStep) return { type: 'missing', update: bytes };
  return step === updateStep ? { type: 'update', update: bytes } : undefined;
}

/** Asks for everything that the document does not have. */
export function printState(document: Y.Doc): Uint8Array {
  return concat([syncType, stateStep], withLength(Y.encodeStateVector(document)));
}

/** Answers a `state`. */
export function printMissing(document: Y.Doc, vector: Uint8Array): Uint8Array {
  return concat([syncType, missingStep], withLength(Y.encodeStateAsUpdate(document, vector)));
}

export function printUpdate(update: Uint8Array): Uint8Array {
  return concat([syncType, updateStep], withLength(update));
}

export function printAwareness({ clientId, clock, state }: AwarenessState): Uint8Array {
  const text = withLength(new TextEncoder().encode(JSON.stringify(state)));
  return concat([awarenessType], withLength(concat(varint(1), varint(clientId), varint(clock), text)));
}

function parseAwareness(data: Uint8Array): AwarenessState[] {
  const reader = new ByteReader(data);
  const count = reader.number();
  return Array.from({ length: count }, () => {
    const [clientId, clock] = [reader.number(), reader.number()];
    return { clientId, clock, state: JSON.parse(reader.text()) as unknown };
  });
}

class ByteReader {
  readonly #data: Uint8Array;
  #at = 0;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  /** Seven bits a byte, the lowest first. */
  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#data[this.#at++];
      if (byte === undefined) throw new RangeError('The message of the room is cut short.');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  bytes(): Uint8Array {
    const length = this.number();
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#data.length) throw new RangeError('The message of the room is cut short.');
    return this.#data.subarray(start, this.#at);
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.from([...bytes, rest]);
}

function withLength(bytes: Uint8Array): Uint8Array {
  return concat(varint(bytes.length), bytes);
}

function concat(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))));
}
