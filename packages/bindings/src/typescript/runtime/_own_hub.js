/** @typedef {{ url: string, token: string | undefined, source: string }} OwnHub */

const proofVersion = 'notebridge-hub-proof-1';

/** What Node has and a browser lacks. @param {string} name @returns {any} */
function builtin(name) {
  return /** @type {any} */ (globalThis).process?.getBuiltinModule?.(name);
}

/**
 * This user's own running hub; undefined without one, and where there are no files. Files that others could have written are not trusted.
 * @param {Record<string, string | undefined>} env @returns {OwnHub | undefined}
 */
export function findOwnHub({ XDG_STATE_HOME: named = '', HOME: home = '' }) {
  try {
    const path = builtin('node:path');
    const base = path.isAbsolute(named) ? named : path.isAbsolute(home) ? path.join(home, '.local', 'state') : undefined;
    if (base === undefined) return undefined;
    const source = path.join(base, 'notebridge', 'hub.json');
    const { url, pid } = JSON.parse(readPrivate(source));
    if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !isRunning(pid)) return undefined;
    return { url, token: ownerToken(path.join(base, 'notebridge', 'owner-token')), source };
  } catch {
    return undefined;
  }
}

/**
 * Whether the listener knows the token, before the token is sent: after a crash any program may have taken the port.
 * @param {string} url @param {string} token @param {AbortSignal} signal
 */
export async function provesToBeOurs(url, token, signal) {
  const { createHmac, randomBytes, timingSafeEqual } = builtin('node:crypto');
  const challenge = randomBytes(24).toString('base64url');
  const asked = new URL('/healthz', url);
  asked.searchParams.set('challenge', challenge);
  const response = await fetch(asked, { redirect: 'error', signal });
  const { proof } = /** @type {any} */ (await response.json().catch(() => ({})));
  const port = asked.port || (asked.protocol === 'https:' ? '443' : '80');
  const wanted = new TextEncoder().encode(createHmac('sha256', token).update(`${proofVersion}\n${port}\n${challenge}`).digest('base64url'));
  const given = new TextEncoder().encode(typeof proof === 'string' ? proof : '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** @param {string} path */
function ownerToken(path) {
  try {
    const token = readPrivate(path).trim();
    return /^nbo_[\w-]{43}$/.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a file that is this user's and closed to all others. @param {string} path @returns {string} */
function readPrivate(path) {
  const { openSync, fstatSync, readFileSync, closeSync, constants } = builtin('node:fs');
  const { process } = /** @type {any} */ (globalThis);
  // Not blocking: somebody may have put a pipe there.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    const isOurs = process.geteuid === undefined || (found.uid === process.geteuid() && (found.mode & 0o077) === 0);
    if (!found.isFile() || !isOurs || found.size > 65_536) throw new Error('It is not ours alone.');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** @param {unknown} pid */
function isRunning(pid) {
  const { process } = /** @type {any} */ (globalThis);
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {{ code?: string }} */ (error).code === 'EPERM';
  }
}
