import { messageOf } from '@notebridge/kit/message-of';
import type { ViewerAction, ViewerMessage } from '../viewer/protocol.js';
import { HostError } from './host-error.js';

type Fields = { readonly [key: string]: unknown };
type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' ? undefined : 'has to be a text');
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'has to be true or false');
const count: Check = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'has to be an integer of 0 or more');
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null ? undefined : check(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);
const oneOf =
  (...allowed: readonly unknown[]): Check =>
  (value) =>
    allowed.includes(value) ? undefined : `has to be one of ${allowed.map((word) => JSON.stringify(word)).join(', ')}`;

/** A cell's id in nbformat has at most 64 characters; what is longer is not worth looking for, or repeating in a message. */
const cellId: Check = (value) =>
  typeof value === 'string' && value.length <= 64 ? undefined : 'has to be a text of at most 64 characters';
const cellType = oneOf('code', 'markdown', 'raw');

/** The fields of each action. The types say that none is forgotten. */
const actions: { readonly [Action in ViewerAction['do']]: { readonly [field: string]: Check } } = {
  insert: { index: count, cellType, source: text },
  update: { cellId, source: text, expectedRev: optional(count) },
  move: { cellId, index: count },
  delete: { cellId },
  setType: { cellId, cellType },
  clearOutputs: { cellId },
  undoDelete: {},
  run: { cellId },
  answerInput: { questionId: count, text: orNull(text) },
  stop: {},
  interrupt: {},
  restart: {},
  save: {},
  undo: { entryId: count },
  disconnectAgent: { agentId: text },
  setReadOnly: { readOnly: flag },
  setToolAccess: { allowed: flag },
  listKernels: {},
  useKernel: { id: text },
  trustFolder: { yes: flag, folder: optional(text) },
  resolveConflict: { keep: oneOf('mine', 'theirs') },
};

/** A message of a window that is not one. `id` is that of the request, where it could be read; else 0. */
export class BadMessage extends HostError {
  readonly id: number;

  constructor(id: number, reason: string) {
    super('bad_request', `The window's request was not understood: ${reason}. Reload the window.`);
    this.id = id;
  }
}

/** Reads a window's message: nothing else than what the protocol knows comes through. Throws `BadMessage`. */
export function parseViewerMessage(frame: string): ViewerMessage {
  const message = asObject(parse(frame));
  if (!message) throw new BadMessage(0, 'it is no JSON object');
  const { type, id } = message;
  if (!Number.isSafeInteger(id)) throw new BadMessage(0, '"id" has to be an integer');
  const known = Number(id);
  if (type !== 'request') throw new BadMessage(known, '"type" has to be "request"');
  const action = asObject(message.action);
  if (!action) throw new BadMessage(known, '"action" has to be an object');
  return { type: 'request', id: known, action: readAction(action, known) };
}

function readAction(found: Fields, id: number): ViewerAction {
  const { do: name } = found;
  if (typeof name !== 'string' || !Object.hasOwn(actions, name)) throw new BadMessage(id, '"do" names no action');
  const action: { [key: string]: unknown } = { do: name };
  for (const [field, check] of Object.entries(actions[name as ViewerAction['do']])) {
    const value = Object.hasOwn(found, field) ? found[field] : undefined;
    const fault = check(value);
    if (fault !== undefined) throw new BadMessage(id, `"${field}" of "${name}" ${fault}`);
    if (value !== undefined) action[field] = value;
  }
  return action as unknown as ViewerAction;
}

function parse(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch (error) {
    throw new BadMessage(0, `it is not JSON (${messageOf(error).slice(0, 100)})`);
  }
}

function asObject(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
