import { messageOf } from '@notebridge/kit/message-of';
import { codeOf } from '../../core/errors.js';
import { byteLengthOf, type Printed, printMessage } from '../../core/wire.js';
import { printWithTokens } from '../../rpc/long-strings.js';
import { failedAnswer, type ToolCallResponse } from './proxy-tool-call.js';

/**
 * Prints an answer, at most `maxBytes` of UTF-8; one that is larger, or nested too deeply to be printed, becomes a failed one. The
 * known members are strung together and the result is printed once, also where it is the error as well: it may be megabytes.
 * Long strings that were not changed on their way keep the bytes with which they came.
 */
export function printAnswer(response: ToolCallResponse, maxBytes: number): Printed {
  const { call_id, duration_ms } = response;
  try {
    const text = printWithTokens(() => print(response));
    // A UTF-16 unit is at most three bytes.
    if (typeof text === 'string' && text.length * 3 <= maxBytes) return text;
    if (byteLengthOf(text) <= maxBytes) return text;
    return print({ ...failedAnswer('result_too_large', tooLarge(maxBytes)), call_id, duration_ms });
  } catch (error) {
    return print({ ...failedAnswer(codeOf(error) ?? 'result_too_large', messageOf(error)), call_id, duration_ms });
  }
}

function print({
  success,
  result,
  error,
  is_error,
  content,
  structured_content,
  meta,
  error_code,
  error_data,
  call_id,
  duration_ms,
}: ToolCallResponse): string {
  const printed = printValue(result);
  const printedError = error === null ? 'null' : error === result ? printed : JSON.stringify(error);
  let text = `{"success":${success},"result":${printed},"error":${printedError},"is_error":${is_error}`;
  if (content !== undefined) text += `,"content":${printValue(content)}`;
  if (structured_content !== undefined) text += `,"structured_content":${printValue(structured_content)}`;
  const code = error_code === null ? 'null' : JSON.stringify(error_code);
  const data = error_data === undefined ? '' : `,"error_data":${printValue(error_data)}`;
  return `${text},"meta":${meta === null ? 'null' : printValue(meta)},"error_code":${code}${data},"call_id":${JSON.stringify(call_id)},"duration_ms":${duration_ms}}`;
}

/** What has no JSON, from a server of this process, is null. */
function printValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : (printMessage(value) ?? 'null');
}

function tooLarge(maxBytes: number): string {
  return `The result is larger than ${maxBytes} bytes. Ask for less at once, or raise notebridge.limits.maxResultBytes.`;
}
