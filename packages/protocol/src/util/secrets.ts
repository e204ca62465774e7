import { appendAll } from './long-lists.js';
import { tryJson } from './try-json.js';

/**
 * A secret, for everything that takes secrets out of texts: a value is one where a name, a form or its look says so. A word such as
 * `production` is none, whatever names it in a text that people and models wrote.
 */
export interface Secret {
  /** By which it is shown: of a variable, a header, a flag or a member. */
  name: string;
  value: string;
}

/**
 * The least length of a text that is hidden everywhere, in characters: it has to be unlike other words. `plain`: of a word or a number,
 * which has to be longer.
 */
const shortest = { mixed: 6, plain: 8 };

/** Whether hiding this text would not garble everything else. */
export function canBeHidden(value: string): boolean {
  return value.length >= (/^(?:\p{L}+|\d+)$/u.test(value) ? shortest.plain : shortest.mixed);
}

/** Whether it is one word, as a sentence of ours may have it too. */
export function isPlainWord(value: string): boolean {
  return value.length < 20 && /^\p{L}\p{Ll}*$/u.test(value);
}

/** Words that name a secret wherever they stand in a name. */
const secretWords =
  /^(?:secrets?|credentials?|authorization|mnemonic|\w*(?:passwords?|passwd|passphrase|apikeys?|accesskey|secretkey|privatekey|authkey|clientsecret|accesstoken|authtoken)|pg?pass|(?:db|user|smtp|mail|redis|mysql)pass)$/;
/** Behind such a word: what is said of it, which is no secret itself. */
const aboutSecrets =
  /^(?:path|file|filename|dir|directory|folder|store|url|uri|endpoint|host|type|kind|names?|limit|count|budget|ttl|expiry|expires|expiration|age|lifetime|prefix|suffix|length|size|env|var|variable|header|policy|mode|enabled|disabled|required|optional|format|algorithm|alg|scheme|provider|method|region|timeout|min|max|version|style|rotation|days|scopes?|usage|hint|label|field|location|managers?)$/;
const harmlessTokens =
  /^(?:next|page|previous|prev|continuation|progress|cursor|sync|pagination|start|end|max|min|total|per|cancel|cancellation|stop|eos|bos|pad|unk|mask|special|input|output|completion|prompt)$/;
const harmlessKeys =
  /^(?:primary|foreign|public|sort|partition|cache|idempotency|object|row|unique|map|hot|shortcut|search|issue|project|index|dict|group|hash|range|record|column|lookup|routing|message|translation|i18n|json|event|dedupe|series|answer|arrow|return|enter|any|no)$/;

/** True of names whose values are secrets. `isSetting`: of a variable, a flag or a query, where `key` alone names one as well. */
export function isSecretName(name: string, isSetting = false): boolean {
  const words = wordsOf(name);
  const last = words.length - 1;
  if (last > 0 && aboutSecrets.test(words[last] ?? '')) return false;
  return words.some((word, at) => {
    const before = words[at - 1] ?? '';
    const isAloneOrNamed = at === last && (last > 0 || isSetting);
    if (secretWords.test(word)) return true;
    if (word === 'token' || (word !== 'tokens' && word.endsWith('token'))) return !harmlessTokens.test(before);
    if (word === 'tokens' || word === 'keys') return /^(?:api|access|auth|refresh|bearer|bot|secret|private)$/.test(before);
    if (word === 'key') return before === 'access' || (isAloneOrNamed && !harmlessKeys.test(before));
    if (/^(?:pass|pwd|cookies?|jwt)$/.test(word)) return at === last;
    if (word === 'auth' || word === 'pat' || word === 'bearer') return isAloneOrNamed;
    return isSetting && at === last && (word === 'sig' || word === 'signature');
  });
}

/** `openaiApiKey2`, `OPENAI_API_KEY`: open, ai, api, key. */
function wordsOf(name: string): string[] {
  const spaced = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2');
  return spaced
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) => word.replace(/\d+$/, ''))
    .filter((word) => word !== '');
}

/** Headers that say nothing secret. All others may: any name will do for a key. */
const harmlessHeaders =
  /^(?:accept(?:-.*)?|content-.*|cache-control|connection|host|origin|referer|user-agent|mcp-(?:protocol-version|method|name)|(?:.+-)?version|x-(?:mcp|client)-.*|x-(?:environment|env|region|locale|timezone|request-id|title|source)|traceparent|tracestate)$/i;

export function secretsOfHeader(name: string, value: string): Secret[] {
  return harmlessHeaders.test(name) ? secretsOfText(value, name) : namedSecrets(name, value);
}

/** The secrets of a variable of an environment, or of whatever has a name and a text. */
export function secretsOfVariable(name: string, value: string): Secret[] {
  return isSecretName(name, true) ? namedSecrets(name, value) : secretsOfText(value, name);
}

/** The secrets of the whole environment of a process, by name alone: much in it is made up by the system, and looks like anything. */
export function secretsOfEnvironment(env: Readonly<Record<string, string | undefined>>): Secret[] {
  return Object.entries(env).flatMap(([name, value = '']) => (isSecretName(name, true) ? namedSecrets(name, value) : []));
}

export function secretsOfArgs(args: readonly string[]): Secret[] {
  return args.flatMap((arg, at) => {
    const before = args[at - 1] ?? '';
    const [, flag] = /^--?([A-Za-z][\w.-]*)$/.exec(before) ?? [];
    if (flag !== undefined && !arg.startsWith('-')) {
      if (isSecretName(flag, true)) return namedSecrets(flag, arg);
      const [, header, value] = /^(?:H|header)$/.test(flag) ? (/^([\w-]+)\s*:\s*(.*)$/s.exec(arg) ?? []) : [];
      if (header !== undefined && value !== undefined) return secretsOfHeader(header, value);
    }
    const [, name, value] = /^(?:--?)?([A-Za-z_][\w.-]*)=(.*)$/s.exec(arg) ?? [];
    return name === undefined || value === undefined ? secretsOfText(arg, `args[${at}]`) : secretsOfVariable(name, value);
  });
}

/** The secrets in the address of a server: its password, what its query names like a key, and parts of its path that look like one. */
export function secretsOfUrl(url: string, name = 'url'): Secret[] {
  // By hand: addresses of databases name several hosts, which is no URL to the parser.
  const [, authority = '', path = '', query = ''] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? [];
  const userInfo = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const [user = '', password = ''] = splitOnce(userInfo, ':').map(decoded);
  const found = [{ name: `${name} password`, value: password }];
  for (const pair of query.split(/[?&#;]/)) {
    const [key = '', value = ''] = splitOnce(pair, '=').map(decoded);
    appendAll(found, secretsOfVariable(key === '' ? name : key, value));
  }
  for (const part of [user, ...path.split('/').map(decoded)]) appendAll(found, [...prefixedOnes(part, name), ...randomOnes(part, name)]);
  return found.filter(isHideable);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A reference that was not expanded, as `${input:token}`; what names a file. */
const isReference = /^\$\{[^}]*\}$|^\$\w+$/;
const isPath = /^(?:~|\.{1,2})?\/(?:[^/\s]+\/)*[^/\s]*$|^[A-Za-z]:[\\/]/;
const aUrl = /^[a-z][a-z\d+.-]*:\/\//i;
/** Also of a scheme that is no standard one. */
const scheme = /^(?:Bearer|Basic|Token|Digest|Bot|ApiKey|Key|GenieKey)\s+(\S.*)$/is;

function namedSecrets(name: string, written: string): Secret[] {
  const text = written.trim();
  const value = scheme.exec(text)?.[1] ?? text;
  if (isReference.test(value)) return [];
  if (aUrl.test(value) || (isPath.test(value) && !looksRandom(value))) return secretsOfText(value, name);
  return [{ name, value }, ...secretsInJson(value)].filter(isHideable);
}

function isHideable({ value }: Secret): boolean {
  return canBeHidden(value) && !isReference.test(value);
}

/** The secrets that show in a text by themselves, not by its name. `name`: the name that they get where the text gives none. */
function secretsOfText(text: string, name: string): Secret[] {
  if (isReference.test(text.trim())) return [];
  const inJson = secretsInJson(text);
  const urls = Array.from(text.matchAll(/[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>\\]+/gi), ([url]) => url);
  const keys = Array.from(text.matchAll(/\b(?:Bearer|Basic)\s+([\w.~+/=-]{6,})/gi), ([, key = '']) => key).filter(
    (key) => !isPlainWord(key),
  );
  const pairs = Array.from(text.matchAll(/(?<![\w.-])([\w.-]{1,80})\s?[=:]\s?["']?([^\s"',;&]+)/g));
  const rest = text.replaceAll(/[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>\\]+/gi, ' ');
  return [
    ...inJson,
    ...urls.flatMap((url) => secretsOfUrl(url, name)),
    ...keys.map((value) => ({ name, value })),
    ...pairs.flatMap(([, key = '', value = '']) => (isSecretName(key, true) && !scheme.test(`${value} x`) ? namedSecrets(key, value) : [])),
    ...prefixedOnes(text, name),
    ...(isPath.test(rest.trim()) ? [] : randomOnes(rest, name)),
  ].filter(isHideable);
}

/** Settings are often JSON, as a text in a text. */
function secretsInJson(text: string): Secret[] {
  const value = /^\s*[[{"]/.test(text) ? tryJson(text) : undefined;
  return value === undefined ? [] : walk(value, 'value', 0);
}

function walk(value: unknown, name: string, depth: number): Secret[] {
  if (typeof value === 'string') return secretsOfVariable(name, value);
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  const members = Array.isArray(value) ? value.map((item) => [name, item] as const) : Object.entries(value);
  return members.flatMap(([key, member]) => walk(member, key, depth + 1));
}

/** Keys whose issuers gave them a prefix so that they can be found. */
const prefixes = [
  /gh[oprsu]_\w{20,}/,
  /github_pat_\w{20,}/,
  /gl(?:pat|sa|rt|dt)[-_][\w-]{16,}/,
  /sk[-_][\w-]{16,}/,
  /(?:rk|whsec)_\w{16,}/,
  /xox[abceprs]-[\w-]{10,}/,
  /xapp-[\w-]{10,}/,
  /A(?:KI|SI)A[0-9A-Z]{16}\b/,
  /AIza[\w-]{30,}/,
  /ya29\.[\w-]{20,}/,
  /(?:hf|npm|r8|gsk|e2b|napi|figd|sbp|shp(?:at|ss|ca)|lin_api|apify_api|dop_v1|dckr_pat|phx|lsv2_\w\w)_[\w-]{18,}/,
  /(?:ntn|secret)_\w{20,}/,
  /(?:pypi|tvly|pplx|xai|fc|tskey|CFPAT|PMAK)-[\w-]{24,}/,
  /BSA[\w-]{24,}/,
  /SG\.[\w-]{16,}\.[\w-]{16,}/,
  /ATATT3[\w=-]{20,}/,
  /nbg_[\w-]{16,}/,
]
  .map(({ source }) => source)
  .join('|');
/** Not inside a word: each would be looked through to its end. */
export const prefixedKeys = new RegExp(`(?<![\\w-])(?=[\\w.=-]{0,80}\\d)(?:${prefixes}|eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*)`, 'g');

function prefixedOnes(text: string, name: string): Secret[] {
  return Array.from(text.matchAll(prefixedKeys), ([value]) => ({ name, value }));
}

const leastRandom = 24;
/** A digest of an image or a package; a commit. */
const isDigest = /\bsha\d{3}[-:][\w+/]{0,7}$/;
const isCommit = /[@#/]$/;
const isUuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

function randomOnes(text: string, name: string): Secret[] {
  return Array.from(text.matchAll(/[\w+/-]{24,}={0,2}/g)).flatMap(({ 0: run, index }) => {
    const [before, after] = [text.slice(Math.max(0, index - 12), index), text[index + run.length]];
    const isHost = /^[a-z\d-]+$/.test(run) && (before.endsWith('.') || after === '.');
    const isOfDigest = isDigest.test(before + run.slice(0, 7)) || (isCommit.test(before) && /^[\da-f]{40}$/.test(run));
    if (isHost || isOfDigest || isUuid.test(run)) return [];
    return looksRandom(run) ? [{ name, value: run }] : [];
  });
}

/** Letters and digits change places in it as nobody writes: not between words, as in `camelCase` and `some-words-2`. */
function looksRandom(run: string): boolean {
  const length = run.replaceAll(/[^A-Za-z\d]/g, '').length;
  const changes = run.match(/[a-z](?=[A-Z\d])|\d(?=[A-Za-z])|[A-Z](?=\d)/g)?.length ?? 0;
  return length >= leastRandom && changes / length >= (/[a-z]/.test(run) ? 0.25 : 0.15);
}
