import { broken, failed, late, refused, strange, stranger, unreachable } from './_errors.js';
import { provesToBeOurs } from './_own_hub.js';
import { currentRoute } from './_settings.js';
import { toResult } from './_values.js';
import { encode, parse, toProgress } from './_wire.js';

/**
 * @typedef {{ server: string, tool: string }} Address
 * @typedef {import('./_settings.js').Route} Route
 */

/** How long, and how often, to wait where the hub says that there were too many calls. */
const longestWaitMs = 2000;
const mostWaits = 3;
/** How long a hub that was there may take to come back, and the pauses between two tries. */
const longestAwayMs = 30_000;
const firstPauseMs = 100;
const longestPauseMs = 1000;

/** Hubs that have answered: one that has not may never have been there, and nobody waits for it. @type {Set<string>} */
const answered = new Set();

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
  const pauseOf = whileAway();
  let hasRenewed = false;
  let wasThere = answered.has(currentRoute().url);
  for (let waits = 0; ; ) {
    const route = currentRoute();
    const sent = await send(address, route, { body, signal }).catch((error) => {
      const pauseMs = wasThere && error instanceof NeverSent ? pauseOf() : undefined;
      if (pauseMs === undefined) throw error instanceof NeverSent ? unreachable(address, route, error.cause) : error;
      return pauseMs;
    });
    if (typeof sent === 'number') {
      await pause(sent, signal);
      continue;
    }
    answered.add(route.url);
    wasThere = true;
    if (sent.status === 200) return toResult(await answerIn(address, route, { response: sent, onProgress }));
    const text = await sent.text().catch(() => '');
    const told = parse(text);
    if (told?.detail === undefined) throw strange(address, route, sent, text);
    // A token file, or the hub's address file, may have been rewritten.
    if (sent.status === 401 && !hasRenewed && currentRoute().token !== route.token) {
      hasRenewed = true;
      continue;
    }
    const askedMs = waitOf(sent);
    // At 503 it takes no calls just now, as one that ends or starts: this one was not begun.
    const waitMs = askedMs !== undefined && sent.status === 503 ? pauseOf(askedMs) : waits < mostWaits ? askedMs : undefined;
    if (waitMs === undefined) throw refused(address, route, sent, told);
    waits++;
    await pause(waitMs, signal);
  }
}

/** How long one call goes on trying to reach a hub that is away: milliseconds until the next try, at least what the hub asked for; undefined: too long. */
function whileAway() {
  /** @type {number | undefined} */
  let until;
  let nextMs = firstPauseMs;
  return (askedMs = 0) => {
    const now = performance.now();
    until ??= now + longestAwayMs;
    // Not all callers at the same moment.
    const pauseMs = Math.max(nextMs * (0.75 + Math.random() / 2), askedMs);
    nextMs = Math.min(longestPauseMs, 2 * nextMs);
    return now + pauseMs < until ? pauseMs : undefined;
  };
}

/** Nothing of the call was sent, for certain. */
class NeverSent extends Error {}

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
    const refusal = codeOf(error);
    if (refusal !== undefined && refusals.includes(refusal)) throw new NeverSent('never sent', { cause: error });
    // A browser does not say, and then it is the likeliest that nothing was.
    throw refusal === undefined ? unreachable(address, route, error) : broken(address, route, error);
  }
}

const refusals = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** Why `fetch` of Node has failed. @param {unknown} error @returns {string | undefined} */
function codeOf(error) {
  const { cause } = /** @type {{ cause?: { code?: string, errors?: { code?: string }[] } }} */ (error);
  return cause?.code ?? cause?.errors?.[0]?.code;
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

/** How long the hub asks to wait, if the call has not run. @param {Response} response */
function waitOf({ status, headers }) {
  const asked = Number(headers.get('retry-after') ?? Number.NaN) * 1000;
  const longestMs = status === 503 ? longestAwayMs : status === 429 ? longestWaitMs : -1;
  return asked >= 0 && asked <= longestMs ? Math.max(50, asked) : undefined;
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
