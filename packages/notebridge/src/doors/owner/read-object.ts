import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { HttpContext } from '../http/http-context.js';
import { parseBody, receiveBody } from '../http/read-body.js';
import { isRefusal, type Refusal } from '../http/refusal.js';
import type { OwnerBodyName } from './owner-schemas.js';

/**
 * The JSON object that was sent. Rejects with `bad_params` for anything else, for members that its schema does not have, and with the text
 * `wanted` for values that are not as the schema says. Left out: who uses the values checks them, and names the one that is wrong.
 */
export async function readObject(
  { request }: HttpContext,
  maxBytes: number,
  { name, wanted }: { name: OwnerBodyName; wanted: string | undefined },
): Promise<JsonObject> {
  const body = await new Promise<string | Refusal | undefined>((resolve) => receiveBody(request, maxBytes, resolve));
  const parsed = typeof body === 'string' ? parseBody(body) : body;
  if (parsed === undefined || isRefusal(parsed) || !isJsonObject(parsed.value))
    throw new BridgeError(
      'bad_params',
      `The body must be a JSON object${parsed !== undefined && isRefusal(parsed) ? `: ${String(parsed.detail)}` : '.'}`,
    );
  const { value } = parsed;
  const { ownerSchemas } = await import('./owner-schemas.js');
  const schema = ownerSchemas[name];
  const known = Object.keys(schema.shape);
  const odd = Object.keys(value).find((member) => !known.includes(member));
  if (odd !== undefined) throw new BridgeError('bad_params', `There is no ${JSON.stringify(odd)} here; there are ${known.join(', ')}.`);
  if (wanted !== undefined && !schema.safeParse(value).success) throw new BridgeError('bad_params', wanted);
  return value;
}
