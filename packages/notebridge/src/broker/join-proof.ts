import { createHmac, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { BridgeError, type ErrorCode, errorTable } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { isSameToken } from '@notebridge/protocol/util/token';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { ownProcessId } from '@notebridge/system/processes/own-user';

/** What both sides know: the secret of the private file, and the address that stands beside it there. */
export interface JoinSecret {
  secret: string;
  /** Part of the proof: else an unknown listener could relay the challenge to the real host. */
  address: string;
  /** The version of Notebridge that this side is. */
  version: string;
}

const protocol = 'notebridge-join-1';
/** How long the other side may take for the whole exchange, milliseconds. */
const proofTimeoutMs = 5000;
const maxLineBytes = 4096;

/**
 * The side that joins: has the listener prove that it knows the secret, before anything but a random number is sent; then proves itself.
 * Rejects with `not_ours`, or with `other_version`.
 */
export async function proveToHost(socket: Socket, { secret, address, version }: JoinSecret): Promise<void> {
  const nonce = newNonce();
  writeLine(socket, { protocol, nonce });
  const answer = await readLine(socket);
  const theirs = answer?.nonce;
  if (!isNonce(theirs) || !isProof(answer?.proof, toProof('host', { secret, address, nonces: [nonce, theirs] }))) {
    throw new BridgeError(
      'not_ours',
      `What listens at ${address} is not the Notebridge that the private file names. Nothing was sent to it.`,
      { data: { hasAnswered: answer !== undefined } },
    );
  }
  writeLine(socket, { proof: toProof('joiner', { secret, address, nonces: [nonce, theirs] }), version });
  const admitted = await readLine(socket);
  if (admitted?.admitted === true) return;
  const { code, message } = admitted ?? {};
  const known: ErrorCode = typeof code === 'string' && Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'not_ours';
  throw new BridgeError(known, typeof message === 'string' ? message : `${address} closed the connection.`);
}

/** The side that listens. False for whoever did not prove to know the secret, or is another version: it is to be hung up on. */
export async function admitJoiner(socket: Socket, { secret, address, version }: JoinSecret): Promise<boolean> {
  const asked = await readLine(socket);
  const nonce = asked?.nonce;
  if (asked?.protocol !== protocol || !isNonce(nonce)) return false;
  const ours = newNonce();
  writeLine(socket, { nonce: ours, proof: toProof('host', { secret, address, nonces: [nonce, ours] }) });
  const given = await readLine(socket);
  if (!isProof(given?.proof, toProof('joiner', { secret, address, nonces: [nonce, ours] }))) return false;
  if (given?.version !== version) {
    writeLine(socket, {
      code: 'other_version',
      message: otherVersion({ pid: ownProcessId(), theirs: version, ours: String(given?.version) }),
    });
    return false;
  }
  writeLine(socket, { admitted: true });
  return true;
}

/** For whoever would join a host of another version. */
export function otherVersion({ pid, theirs, ours }: { pid: number; theirs: string; ours: string }): string {
  return (
    `The notebooks of this user are held by Notebridge ${theirs} (process ${pid}), and this is ${ours}. ` +
    'Run "notebridge stop all": it saves everything and ends it. Then try again.'
  );
}

interface Exchange {
  secret: string;
  address: string;
  /** Of the joiner, then of the host. */
  nonces: readonly [string, string];
}

function toProof(side: 'host' | 'joiner', { secret, address, nonces }: Exchange): string {
  return createHmac('sha256', secret)
    .update([protocol, side, address, ...nonces].join('\n'))
    .digest('base64url');
}

function isProof(given: unknown, expected: string): boolean {
  return typeof given === 'string' && isSameToken(given, expected);
}

function newNonce(): string {
  return randomBytes(24).toString('base64url');
}

function isNonce(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{32}$/.test(text);
}

function writeLine(socket: Socket, line: JsonObject): void {
  socket.write(`${JSON.stringify(line)}\n`);
}

/** One short line of JSON; undefined for anything else, for silence, and for the end. What comes behind it stays in the socket. */
function readLine(socket: Socket): Promise<JsonObject | undefined> {
  return new Promise((resolve) => {
    let text = Buffer.alloc(0);
    const finish = (line?: Buffer): void => {
      clearTimeout(timer);
      socket.off('data', take).off('close', finish0).off('error', finish0).pause();
      const found = line === undefined ? undefined : tryJson(line.toString('utf8'));
      resolve(isJsonObject(found) ? found : undefined);
    };
    const finish0 = (): void => finish();
    const take = (chunk: Buffer): void => {
      text = Buffer.concat([text, chunk]);
      const end = text.indexOf('\n');
      if (end < 0) return text.length > maxLineBytes ? finish() : undefined;
      finish(text.subarray(0, end));
      if (end + 1 < text.length) socket.unshift(text.subarray(end + 1));
    };
    const timer = setTimeout(finish0, proofTimeoutMs);
    socket.on('data', take).once('close', finish0).once('error', finish0).resume();
  });
}
