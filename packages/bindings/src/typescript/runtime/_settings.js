import { ToolError } from './_errors.js';
import { findOwnHub } from './_own_hub.js';
import { hubUrl } from './_package.js';

/**
 * Everything that is needed to reach the hub.
 * @typedef {object} Route
 * @property {string} url  of the tool proxy
 * @property {string | undefined} token
 * @property {string} urlSource  where the address came from, for errors
 * @property {string} tokenSource
 * @property {boolean} needsProof  The token gives access to everything of this user: the listener has to prove that it is the user's hub.
 */

const prefix = '/api/v1/mcp/proxy';

/** @type {import('./client.js').Settings} */
let explicit = {};

/** @type {typeof import('./client.js').configure} */
export function configure(settings) {
  if (settings.url !== undefined) parseUrl(settings.url, 'configure');
  explicit = { ...explicit, ...settings };
}

/** The route to the hub, found anew for each call: variables and files may have changed. @returns {Route} */
export function currentRoute() {
  const env = environment();
  const own = findOwnHub(env);
  const [found, urlSource] = findUrl(env, own);
  const url = parseUrl(found, urlSource);
  const { token, source } = findToken(env, url);
  if (token !== undefined) return { url: url.href, token, urlSource, tokenSource: source, needsProof: false };
  if (own?.token !== undefined && isSamePlace(parseUrl(own.url, own.source), url)) {
    return { url: url.href, token: own.token, urlSource, tokenSource: own.source, needsProof: true };
  }
  return { url: url.href, token: undefined, urlSource, tokenSource: source, needsProof: false };
}

/** @param {Record<string, string | undefined>} env @param {ReturnType<typeof findOwnHub>} own @returns {[url: string, source: string]} */
function findUrl(env, own) {
  if (explicit.url !== undefined) return [explicit.url, 'configure'];
  if (env.NOTEBRIDGE_URL) return [env.NOTEBRIDGE_URL, 'NOTEBRIDGE_URL'];
  if (hubUrl !== undefined) return [hubUrl, 'the generated package'];
  if (env.AGENT_RUNTIMES_MCP_PROXY_URL) return [env.AGENT_RUNTIMES_MCP_PROXY_URL, 'AGENT_RUNTIMES_MCP_PROXY_URL'];
  if (own !== undefined) return [own.url, own.source];
  return ['http://127.0.0.1:8765', 'the default, since nothing names a hub'];
}

/**
 * A token that came with an address is for that address only.
 * @param {Record<string, string | undefined>} env @param {URL} url @returns {{ token: string | undefined, source: string }}
 */
function findToken(env, url) {
  const places = [
    { token: explicit.token, file: explicit.tokenFile, forUrl: explicit.url, source: 'configure' },
    { token: env.NOTEBRIDGE_TOKEN, file: env.NOTEBRIDGE_TOKEN_FILE, forUrl: env.NOTEBRIDGE_URL, source: 'NOTEBRIDGE_TOKEN' },
  ];
  let why = 'none was found';
  for (const { token, file, forUrl, source } of places) {
    if (!token && !file) continue;
    const name = token ? source : source === 'configure' ? 'configure({ tokenFile })' : 'NOTEBRIDGE_TOKEN_FILE';
    if (forUrl && parseUrl(forUrl, source).origin !== url.origin) why = `the one of ${name} is for ${forUrl} and is not sent elsewhere`;
    else return { token: checked(token || readFile(file ?? '', name), name), source: name };
  }
  return { token: undefined, source: why };
}

/** @param {string} path @param {string} name */
function readFile(path, name) {
  const { process } = /** @type {any} */ (globalThis);
  try {
    return String(process.getBuiltinModule('node:fs').readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new ToolError(`Cannot read the token file "${path}" that ${name} names. Fix the path.`, { code: 'bad_grant', cause });
  }
}

/** It becomes a line of the request's head. @param {string} text @param {string} source */
function checked(text, source) {
  const token = text.trim();
  if (/^[!-~]+$/.test(token)) return token;
  throw new ToolError(`The token of ${source} is empty or not a valid token. Issue one with: notebridge grant`, { code: 'bad_grant' });
}

/** @param {string} text @param {string} source @returns {URL} */
function parseUrl(text, source) {
  let url;
  try {
    url = new URL(text.trim());
  } catch {}
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    const shown = JSON.stringify(text);
    throw new ToolError(
      `The hub's address ${shown} (from ${source}) is not a valid address. Give one like http://127.0.0.1:8765, without user, query or fragment.`,
      {
        code: 'bad_url',
      },
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(prefix) ? path : `${path}${prefix}`;
  return url;
}

/** @param {URL} one @param {URL} other */
function isSamePlace(one, other) {
  const loopback = ['127.0.0.1', '[::1]', 'localhost'];
  const isSamePort = one.protocol === other.protocol && one.port === other.port;
  return one.origin === other.origin || (isSamePort && loopback.includes(one.hostname) && loopback.includes(other.hostname));
}

/** Empty where there is none, as in a browser, or where it may not be read. @returns {Record<string, string | undefined>} */
function environment() {
  try {
    const { env } = /** @type {any} */ (globalThis).process;
    const { NOTEBRIDGE_URL, NOTEBRIDGE_TOKEN, NOTEBRIDGE_TOKEN_FILE, AGENT_RUNTIMES_MCP_PROXY_URL, XDG_STATE_HOME, HOME } = env;
    return { NOTEBRIDGE_URL, NOTEBRIDGE_TOKEN, NOTEBRIDGE_TOKEN_FILE, AGENT_RUNTIMES_MCP_PROXY_URL, XDG_STATE_HOME, HOME };
  } catch {
    return {};
  }
}
