import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { HostError } from '../session/host-error.js';
import { actions } from '../viewer/actions.js';
import type { ViewerAction, ViewerMessage } from '../viewer/protocol.js';

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
