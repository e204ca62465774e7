/** Messages with bytes, as lines of JSON: `data` goes as base64. */

export function toLine(message: object): string {
  const { data } = message as { data?: unknown };
  if (!(data instanceof Uint8Array)) return JSON.stringify(message);
  return JSON.stringify({ ...message, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') });
}

/** The same message with its bytes. What is no such message comes back as it is. */
export function withBytes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('data' in value) || typeof value.data !== 'string') return value;
  const bytes = Buffer.from(value.data, 'base64');
  // Of its own: a part of Node's pool would be sent with all of it.
  return { ...value, data: new Uint8Array(bytes) };
}
