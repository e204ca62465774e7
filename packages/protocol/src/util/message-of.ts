import { isJsonObject } from '../json.js';

/** The message of anything thrown, for logs and texts of ours. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return isJsonObject(thrown) && typeof thrown.message === 'string' ? thrown.message : String(thrown);
}
