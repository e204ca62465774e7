import { parseJson, printJson, toPlainNumbers } from '../exact-json.js';
import { messageOf } from '../util/message-of.js';
import { BridgeError } from './errors.js';

/** Parses one frame or line. Throws `bad_json`, or `message_too_deep`. */
export function parseMessage(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(error) : new BridgeError('bad_json', `Not JSON: ${messageOf(error)}`);
  }
}

/** Prints one message. Throws `message_too_deep` for nesting that the engine cannot print. */
export function printMessage(message: unknown): string {
  try {
    return printJson(message);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(error) : error;
  }
}

/** What was printed: text, or the bytes of a text in pieces. */
export type Printed = string | readonly Buffer[];

/** The length of what was printed, in bytes of UTF-8. */
export function byteLengthOf(printed: Printed): number {
  return typeof printed === 'string' ? Buffer.byteLength(printed) : printed.reduce((sum, piece) => sum + piece.length, 0);
}

/** A value of the wire for code of this process: exact numbers become plain ones. Throws `message_too_deep`. */
export function toPlainValue(value: unknown): unknown {
  try {
    return toPlainNumbers(value);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(error) : error;
  }
}

function tooDeep(cause: RangeError): BridgeError {
  return new BridgeError('message_too_deep', 'The message is nested too deeply.', { cause });
}
