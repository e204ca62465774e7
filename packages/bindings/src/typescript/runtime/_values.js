/**
 * @typedef {import('./client.js').ContentBlock} ContentBlock
 * @typedef {import('./client.js').ToolResult} ToolResult
 */

/** The result in an answer of the tool proxy. @param {any} answer @returns {ToolResult} */
export function toResult(answer) {
  const { result, content, structured_content: structured, meta, call_id: callId, duration_ms: durationMs } = answer;
  const isBlocks = !Array.isArray(content) && areBlocks(result);
  const value = isBlocks ? toValue(result) : result;
  // An empty list as structured content comes without blocks beside it.
  const isData = !isBlocks && typeof result !== 'string' && !(Array.isArray(content) && content.length === 0);
  return {
    value,
    content: Array.isArray(content) ? content : isBlocks ? result : textOf(result),
    structured: structured ?? (isData ? (result ?? undefined) : undefined),
    meta: meta ?? {},
    callId,
    durationMs,
  };
}

/** @param {unknown} result @returns {ContentBlock[]} */
function textOf(result) {
  if (result === null || result === undefined) return [];
  return [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }];
}

/** True for a list of content blocks of which one at least is no text: the proxy sends it as the result. @param {any} value */
function areBlocks(value) {
  if (!Array.isArray(value) || value.length === 0) return false;
  const kinds = value.map((block) => block?.type);
  return kinds.every((kind) => typeof kind === 'string') && !kinds.every((kind) => kind === 'text');
}

/** One block that is no text is itself, several are a list of texts and objects. @param {ContentBlock[]} blocks */
function toValue(blocks) {
  const values = blocks.map(toObject);
  return values.length === 1 ? values[0] : values;
}

/** A block as an object; one of a kind that we do not know, or that is malformed, stays as it is. @param {any} block */
function toObject(block) {
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if ((type === 'image' || type === 'audio') && typeof data === 'string') return { type, data: fromBase64(data), mimeType, block };
  if (type === 'resource' && typeof (resource?.blob ?? resource?.text) === 'string') {
    const isBlob = typeof resource.blob === 'string';
    return {
      type,
      data: isBlob ? fromBase64(resource.blob) : new TextEncoder().encode(resource.text),
      mimeType: resource.mimeType ?? (isBlob ? 'application/octet-stream' : 'text/plain'),
      uri: resource.uri,
      block,
    };
  }
  return block;
}

/** @param {string} text @returns {Uint8Array} */
function fromBase64(text) {
  // Newer platforms do it themselves, and much faster.
  const { fromBase64: own } = /** @type {any} */ (Uint8Array);
  if (typeof own === 'function') return own.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
