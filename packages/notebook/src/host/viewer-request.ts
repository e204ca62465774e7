import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { messageOf } from '@notebridge/kit/message-of';
import { HostError } from '../session/host-error.js';
import type { ViewerAction, ViewerMessage } from '../viewer/protocol.js';

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
const shortText: Check = (value) =>
  typeof value === 'string' && value.length <= 1000 ? undefined : 'has to be a text of at most 1000 characters';
const object: Check = (value) => (isJsonObject(value) ? undefined : 'has to be an object');
const listOf =
  (check: Check, max: number): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length > max) return `has to be a list of at most ${max}`;
    for (const each of value) {
      const fault = check(each);
      if (fault !== undefined) return `has an entry that ${fault}`;
    }
    return undefined;
  };
const fields =
  (checks: { readonly [field: string]: Check }): Check =>
  (value) => {
    if (!isJsonObject(value)) return 'has to be an object';
    if (Object.keys(value).some((field) => !Object.hasOwn(checks, field))) return 'has a field that is not known';
    for (const [field, check] of Object.entries(checks)) {
      const fault = check(Object.hasOwn(value, field) ? value[field] : undefined);
      if (fault !== undefined) return `has a "${field}" that ${fault}`;
    }
    return undefined;
  };
const cellIds = listOf(cellId, 10_000);
const texts: Check = (value) => (typeof value === 'string' ? undefined : listOf(text, 1_000_000)(value));
/** That it can be written at all; the rest is checked as that of a file is, when it is put in. */
const output: Check = (value) => {
  const found = isJsonObject(value) ? value : {};
  switch (found.output_type) {
    case 'stream':
      return texts(found.text);
    case 'error':
      return listOf(text, 1_000_000)(found.traceback);
    case 'display_data':
    case 'execute_result':
      return object(found.data) ?? object(found.metadata);
    default:
      return 'has to be an output of nbformat';
  }
};
const bundles: Check = (value) => object(value) ?? listOf(object, 10_000)(Object.values(value as JsonObject));
/** What stands in it is checked as that of a file is, when it is put in. */
const pastedCell = fields({
  cellType,
  source: text,
  metadata: optional(object),
  attachments: optional(bundles),
  outputs: optional(listOf(output, 100_000)),
  executionCount: optional(orNull(count)),
});

/** The fields of each action. The types say that none is forgotten. */
const actions: { readonly [Action in ViewerAction['do']]: { readonly [field: string]: Check } } = {
  insert: { index: count, cellType, source: text },
  paste: { index: count, cells: listOf(pastedCell, 1000) },
  update: { cellId, source: text, expectedRev: optional(count) },
  move: { cellId, index: count },
  updateAll: { updates: listOf(fields({ cellId, source: text, expectedRev: count }), 10_000) },
  delete: { cellIds },
  split: { cellId, at: count, expectedRev: count },
  merge: { cellIds },
  setType: { cellId, cellType },
  clearOutputs: { cellId },
  undoStep: {},
  run: { cellId },
  runAll: { from: optional(cellId), to: optional(cellId), restart: optional(flag) },
  complete: { code: text, position: count },
  inspect: { code: text, position: count, detail: oneOf(0, 1) },
  listNotebooks: {},
  openNotebook: { path: shortText, isNew: flag },
  answerInput: { questionId: count, text: orNull(text) },
  answerElicitation: { questionId: count, answer: fields({ action: oneOf('accept', 'decline', 'cancel'), content: optional(object) }) },
  stop: {},
  interrupt: {},
  restart: {},
  save: {},
  undo: { entryId: count },
  disconnectAgent: { agentId: text },
  answerTakeOver: { questionId: count, yes: flag },
  setMayHold: { agentId: text, may: flag },
  setReadOnly: { readOnly: flag },
  setToolAccess: { allowed: flag },
  listKernels: {},
  useKernel: { id: text },
  trustFolder: { yes: flag, id: optional(text), folder: optional(text) },
  allow: { what: text, yes: flag },
  trustOutputs: { trusted: flag },
  readImage: { path: text },
  readLibrary: { address: shortText },
  readPage: { path: shortText },
  drawn: { id: count, picture: orNull(text) },
  findWidget: { modelId: shortText },
  openWidget: { modelId: shortText },
  callWidget: { commId: shortText, cellId, data: object, buffers: listOf(text, 1000) },
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
  const message = parse(frame);
  if (!isJsonObject(message)) throw new BadMessage(0, 'it is no JSON object');
  const { type, id } = message;
  if (!Number.isSafeInteger(id)) throw new BadMessage(0, '"id" has to be an integer');
  const known = Number(id);
  if (type !== 'request') throw new BadMessage(known, '"type" has to be "request"');
  const { action } = message;
  if (!isJsonObject(action)) throw new BadMessage(known, '"action" has to be an object');
  return { type: 'request', id: known, action: readAction(action, known) };
}

function readAction(found: JsonObject, id: number): ViewerAction {
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
