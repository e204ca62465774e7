import { broken, failed, late, refused, strange, stranger, unreachable } from './_errors.js';
import { provesToBeOurs } from './_own_hub.js';
import { currentRoute } from './_settings.js';
import { toResult } from './_values.js';
import { encode, parse, toProgress } from './_wire.js';

/**
 * @typedef {{ server: string, tool: string }} Address
 * @typedef {import('./_settings.js').Route} Route
 */

/** How long, and how often, to wait for a hub that says when to retry. */
const longestWaitMs = 2000;
const mostWaits = 3;

/** Routes whose listener has proved that it is the user's own hub. @type {Set<string>} */
const proved = new Set();

/**
 * One call, from its arguments to its result.
 * @param {Address} address @param {{ [key: string]: unknown }} arguments_ @param {import('./client.js').CallOptions} options
 */
export async function converse(address, arguments_, options) {
  const { signal, timeoutMs } = options;
  signal?.throwIfAborted();
  const ending = new AbortController();
  let isLate = false;
  const onAbort = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const expire = () => {
    isLate = true;
    ending.abort();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
  try {
    return await ask(address, encode(address, arguments_), { ...options, signal: ending.signal });
  } catch (error) {
    if (isLate) throw late(address, timeoutMs ?? 0);
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** @param {Address} address @param {string} body @param {import('./client.js').CallOptions & { signal: AbortSignal }} options */
async function ask(address, body, { signal, onProgress }) {
  let hasRenewed = false;
  for (let waits = 0; ; ) {
    const route = currentRoute();
    const response = await send(address, route, { body, signal });
    if (response.status === 200) return toResult(await answerIn(address, route, { response, onProgress }));
    const text = await response.text().catch(() => '');
    const told = parse(text);
    if (told?.detail === undefined) throw strange(address, route, response, text);
    // A token file, or the hub's address file, may have been rewritten.
    if (response.status === 401 && !hasRenewed && currentRoute().token !== route.token) {
      hasRenewed = true;
      continue;
    }
    const waitMs = waitOf(response);
    if (waitMs === undefined || waits >= mostWaits) throw refused(address, route, response, told);
    waits++;
    await pause(waitMs, signal);
  }
}

/** @param {Address} address @param {Route} route @param {{ body: string, signal: AbortSignal }} what @returns {Promise<Response>} */
async function send(address, route, { body, signal }) {
  const { url, token, needsProof } = route;
  try {
    const key = `${url} ${token}`;
    if (token !== undefined && needsProof && !proved.has(key)) {
      if (!(await provesToBeOurs(url, token, signal))) throw stranger(address, route);
      proved.add(key);
    }
    // The stream sends a sign of life every few seconds: else `fetch` of Node gives up on a call after five minutes.
    /** @type {Record<string, string>} */
    const headers = { 'content-type': 'application/json', accept: 'application/x-ndjson' };
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const path = `${url}/${encodeURIComponent(address.server)}/tools/${encodeURIComponent(address.tool)}`;
    return await fetch(path, { method: 'POST', headers, body, signal, redirect: 'manual' });
  } catch (error) {
    if (signal.aborted || /** @type {{ code?: unknown }} */ (error).code === 'not_own_hub') throw error;
    proved.clear();
    throw isRefusal(error) ? unreachable(address, route, error) : broken(address, route, error);
  }
}

/** True if nothing was sent. A browser does not say, and then it is the likeliest. @param {unknown} error */
function isRefusal(error) {
  const { cause } = /** @type {{ cause?: { code?: string, errors?: { code?: string }[] } }} */ (error);
  const code = cause?.code ?? cause?.errors?.[0]?.code;
  return (
    code === undefined ||
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)
  );
}

/**
 * The answer of a call: the last line of a stream, or the body of a call that was over before a stream began.
 * @param {Address} address @param {Route} route
 * @param {{ response: Response, onProgress: import('./client.js').CallOptions['onProgress'] }} stream
 */
async function answerIn(address, route, { response, onProgress }) {
  /** @type {any} */
  let answer;
  let last = '';
  for await (const line of linesOf(response, (error) => broken(address, route, error))) {
    if (line === '') continue;
    last = line;
    const event = parse(line);
    if (typeof event?.success === 'boolean') answer = event;
    else if (event?.event === 'progress') onProgress?.(toProgress(event));
  }
  if (answer === undefined) throw strange(address, route, response, last);
  if (!answer.success) throw failed(address, answer);
  return answer;
}

/** @param {Response} response @param {(error: unknown) => Error} toFault */
async function* linesOf(response, toFault) {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  /** @type {string[]} */
  let begun = [];
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => Promise.reject(toFault(error)));
      const parts = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split('\n');
      for (const part of parts.slice(0, -1)) {
        yield begun.join('') + part;
        begun = [];
      }
      begun.push(parts.at(-1) ?? '');
      if (done) return void (yield begun.join(''));
    }
  } finally {
    // A reader that stopped, because a listener threw, does not need the rest.
    reader.cancel().catch(() => {});
  }
}

/** How long the hub asks to wait, if it is short and the call has not run. @param {Response} response */
function waitOf({ status, headers }) {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return (status === 429 || status === 503) && seconds >= 0 && seconds * 1000 <= longestWaitMs ? Math.max(50, seconds * 1000) : undefined;
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
