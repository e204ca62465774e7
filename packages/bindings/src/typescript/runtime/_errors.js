/** @type {typeof import('./client.js').ToolError} */
export const ToolError = class extends Error {
  /** @param {string} message @param {import('./client.js').ToolErrorDetails} [details] */
  constructor(message, { server = '', tool = '', code = 'tool_failed', content = [], structured, data, callId, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ToolError';
    this.server = server;
    this.tool = tool;
    this.code = code;
    this.content = content;
    this.structured = structured;
    this.data = data;
    this.callId = callId;
  }
};

/**
 * @typedef {{ server: string, tool: string }} Address
 * @typedef {import('./_settings.js').Route} Route
 */

/** What to do about failures that the hub does not explain. @type {Record<string, string>} */
const next = {
  upstream_unavailable: ' Whether the call had an effect is unknown; it was not repeated. `notebridge servers` shows its state.',
  timeout: ' The tool may still be running.',
};

/** @type {Record<number, string>} */
const codes = {
  401: 'bad_grant',
  403: 'denied',
  404: 'unknown_server',
  413: 'message_too_large',
  422: 'invalid_arguments',
  429: 'limit_reached',
};

/** @param {Address} address @param {string} text @param {string} code @param {import('./client.js').ToolErrorDetails} [more] */
export function failure({ server, tool }, text, code, more = {}) {
  return new ToolError(`${tool} (${server}): ${text}`, { ...more, server, tool, code });
}

/** The tool, or the hub on its way to the tool, said that the call failed. @param {Address} address @param {any} answer */
export function failed(address, answer) {
  const text = typeof answer.error === 'string' && answer.error !== '' ? answer.error : 'The call failed without a reason.';
  const code = typeof answer.error_code === 'string' ? answer.error_code : 'tool_failed';
  const isToolsText = answer.is_error === true && typeof answer.result === 'string';
  const content = Array.isArray(answer.content) ? answer.content : isToolsText ? [{ type: 'text', text: answer.result }] : [];
  const { structured_content: structured, error_data: data, call_id: callId } = answer;
  return failure(address, `${text}${next[code] ?? ''}`, code, { content, structured, data, callId });
}

/** The hub answered with an error status. @param {Address} address @param {Route} route @param {Response} response @param {any} body */
export function refused(address, route, { status, headers }, body) {
  const text =
    typeof body.detail === 'string' ? body.detail : `The hub answered with status ${status}: ${JSON.stringify(body.detail).slice(0, 300)}`;
  let hint = '';
  if (status === 401)
    hint = ` ${tokenOf(route)} Issue a grant with \`notebridge grant\` and set NOTEBRIDGE_TOKEN, or call configure({ token }).`;
  else if (status === 500) hint = " The hub's log has the rest under the call's id.";
  else if (headers.has('retry-after')) hint = ` Try again in ${headers.get('retry-after')} s.`;
  const code = typeof body.error_code === 'string' ? body.error_code : (codes[status] ?? 'refused');
  return failure(address, `${text}${hint}`, code, { callId: typeof body.call_id === 'string' ? body.call_id : undefined });
}

/** The answer is not from a hub, or was damaged on the way. @param {Address} address @param {Route} route @param {Response} response @param {string} text */
export function strange(address, route, { status, headers }, text) {
  const kind = (headers.get('content-type') ?? 'no type').split(';', 1)[0];
  const what = text === '' ? 'nothing' : `${kind}: ${JSON.stringify(text.slice(0, 300))}`;
  const told = `${route.url} (from ${route.urlSource}) is not a tool proxy, or its answers are changed on the way: it answered with status `;
  return failure(
    address,
    `${told}${status} and ${what}. Set NOTEBRIDGE_URL to the address that \`notebridge serve\` prints.`,
    'bad_answer',
  );
}

/** @param {Address} address @param {Route} route @param {unknown} cause */
export function unreachable(address, route, cause) {
  const text = `No hub answers at ${route.url} (from ${route.urlSource}): ${reasonOf(cause)}. Start it with \`notebridge serve\`, or set NOTEBRIDGE_URL to where it is.`;
  return failure(address, text, 'hub_unreachable', { cause });
}

/** @param {Address} address @param {Route} route */
export function stranger(address, route) {
  const text = `What listens at ${route.url} did not prove that it is your hub, so your token was not sent. Start yours with \`notebridge serve\`, or set NOTEBRIDGE_URL and NOTEBRIDGE_TOKEN.`;
  return failure(address, text, 'not_own_hub');
}

/** @param {Address} address @param {Route} route @param {unknown} cause */
export function broken(address, route, cause) {
  const text = `The connection to ${route.url} ended before the answer arrived: ${reasonOf(cause)}. Whether the tool had an effect is unknown; the call was not repeated.`;
  return failure(address, text, 'connection_lost', { cause });
}

/** @param {Address} address @param {number} timeoutMs */
export function late(address, timeoutMs) {
  const text = `No answer within ${timeoutMs} ms; the call was cancelled. Whether the tool had an effect is unknown. Allow more time: { timeoutMs }.`;
  return failure(address, text, 'timeout');
}

/** @param {Route} route */
function tokenOf({ token, tokenSource }) {
  return token === undefined ? `No token was sent: ${tokenSource}.` : `The token came from ${tokenSource}.`;
}

/** `fetch` says only that it failed; the reason is in its cause. @param {unknown} error */
function reasonOf(error) {
  const { message, cause } = /** @type {{ message?: string, cause?: { message?: string, code?: string } }} */ (error ?? {});
  return cause?.message || cause?.code || message || String(error);
}
