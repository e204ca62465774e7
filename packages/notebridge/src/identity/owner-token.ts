import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isSameToken } from '@notebridge/protocol/util/token';
import { createPrivateFile, ensurePrivateDir, readPrivateFile } from '@notebridge/system/files/private-file';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { createSecret, isSecret } from './secret.js';

const fileOf = (dir: string): string => join(dir, 'owner-token');

/**
 * The token that opens everything of this user's hubs, made if there is none: a process that can read the user's private files is the user.
 *
 * @throws BridgeError `write_failed` if folder or file is not the user's own alone, `bad_grant` if the file holds no such token.
 */
export function ensureOwnerToken(dir: string): string {
  ensurePrivateDir(dir, { uid: ownUserId() });
  // Of two processes that start at once, the second one takes the token of the first.
  if (readOwnerToken(dir) === undefined) createPrivateFile(fileOf(dir), `${createSecret('nbo_')}\n`);
  const token = readOwnerToken(dir);
  if (token === undefined) throw new BridgeError('bad_grant', `"${fileOf(dir)}" was removed while it was read. Try again.`);
  return token;
}

/** The token that is there, undefined if none was made yet. Throws as `ensureOwnerToken` does. */
export function readOwnerToken(dir: string): string | undefined {
  const path = fileOf(dir);
  const token = readPrivateFile(path, { uid: ownUserId() })?.trim();
  if (token === undefined || isSecret(token, 'nbo_')) return token;
  throw new BridgeError('bad_grant', `"${path}" holds no owner token. Remove it and restart the hub: it makes a new one.`, {
    data: { reason: 'malformed', path },
  });
}

/** What a client asks a listener to prove, before it shows it the token. */
export interface OwnerChallenge {
  /** Chosen anew by the client: 16 to 128 characters of `A-Za-z0-9_-`. */
  nonce: string;
  /** The TCP port that was dialled. It is part of the proof: else an unknown listener could relay the challenge to the real hub. */
  port: number;
}

const version = 'notebridge-hub-proof-1';

/** True for a nonce that a hub answers. */
export function isNonce(nonce: unknown): nonce is string {
  return typeof nonce === 'string' && /^[\w-]{16,128}$/.test(nonce);
}

/** The hub's side: proves that it knows the owner's token without showing it. `port`: that of the socket on which it was asked. */
export function proveOwner(token: string, { nonce, port }: OwnerChallenge): string {
  return createHmac('sha256', token).update(`${version}\n${port}\n${nonce}`).digest('base64url');
}

/** The client's side: true if the proof is that of the owner's own hub, for this question. Constant time. */
export function verifyProof(token: string, { proof, ...challenge }: OwnerChallenge & { proof: unknown }): boolean {
  return typeof proof === 'string' && isSameToken(proof, proveOwner(token, challenge));
}
