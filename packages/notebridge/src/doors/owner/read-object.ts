import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import type { HttpContext } from '../http/http-context.js';
import { parseBody, receiveBody } from '../http/read-body.js';
import { isRefusal } from '../http/refusal.js';

/** The JSON object that was sent. Rejects with `bad_params` for anything else, and for members that are none of `known`. */
export async function readObject({ request }: HttpContext, maxBytes: number, known: readonly string[]): Promise<JsonObject> {
  const body = await new Promise<Parameters<Parameters<typeof receiveBody>[2]>[0]>((resolve) => receiveBody(request, maxBytes, resolve));
  const parsed = body === undefined || isRefusal(body) ? body : parseBody(body.text);
  if (parsed === undefined || isRefusal(parsed) || !isJsonObject(parsed.value))
    throw new BridgeError(
      'bad_params',
      `The body must be a JSON object${parsed !== undefined && isRefusal(parsed) ? `: ${String(parsed.detail)}` : '.'}`,
    );
  const odd = Object.keys(parsed.value).find((name) => !known.includes(name));
  if (odd === undefined) return parsed.value;
  throw new BridgeError('bad_params', `There is no ${JSON.stringify(odd)} here; there are ${known.join(', ')}.`);
}
