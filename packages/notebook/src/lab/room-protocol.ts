import { type Doc, decoding, encodeStateAsUpdate, encodeStateVector, encoding } from './yjs.js';

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

/** Undefined for a message of a kind that we do not know. Throws for one that is cut short. */
export function parseRoomMessage(data: Uint8Array): RoomMessage | undefined {
  const reader = decoding.createDecoder(data);
  const type = decoding.readVarUint(reader);
  if (type === textType) return { type: 'text', text: decoding.readVarString(reader) };
  if (type === awarenessType) return { type: 'awareness', clients: parseAwareness(decoding.readVarUint8Array(reader)) };
  if (type !== syncType) return undefined;
  const step = decoding.readVarUint(reader);
  const bytes = decoding.readVarUint8Array(reader);
  if (step === stateStep) return { type: 'state', vector: bytes };
  if (step === missingStep) return { type: 'missing', update: bytes };
  return step === updateStep ? { type: 'update', update: bytes } : undefined;
}

/** Asks for everything that the document does not have. */
export function printState(document: Doc): Uint8Array {
  return print(syncType, stateStep, encodeStateVector(document));
}

/** Answers a `state`. */
export function printMissing(document: Doc, vector: Uint8Array): Uint8Array {
  return print(syncType, missingStep, encodeStateAsUpdate(document, vector));
}

export function printUpdate(update: Uint8Array): Uint8Array {
  return print(syncType, updateStep, update);
}

export function printAwareness({ clientId, clock, state }: AwarenessState): Uint8Array {
  return print(awarenessType, print(1, clientId, clock, JSON.stringify(state)));
}

function parseAwareness(data: Uint8Array): AwarenessState[] {
  const reader = decoding.createDecoder(data);
  return Array.from({ length: decoding.readVarUint(reader) }, () => {
    const [clientId, clock] = [decoding.readVarUint(reader), decoding.readVarUint(reader)];
    return { clientId, clock, state: JSON.parse(decoding.readVarString(reader)) as unknown };
  });
}

/** Texts and bytes with their length before them. */
function print(...parts: readonly (number | string | Uint8Array)[]): Uint8Array {
  return encoding.encode((encoder) => {
    for (const part of parts) {
      if (typeof part === 'number') encoding.writeVarUint(encoder, part);
      else if (typeof part === 'string') encoding.writeVarString(encoder, part);
      else encoding.writeVarUint8Array(encoder, part);
    }
  });
}
