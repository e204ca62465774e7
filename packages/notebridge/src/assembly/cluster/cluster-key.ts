import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { createPrivateFile, ensurePrivateDir, readPrivateFile } from '@notebridge/system/files/private-file';
import { whoElseMayTouch } from '@notebridge/system/processes/mounted-secret';

/** As base64 has 192 bits. */
const leastCharacters = 32;

export interface ReadClusterKeyOptions {
  /** Has the key if the settings name no file. */
  stateDir: string;
  logger: Logger;
  /** The user that owns files of ours. Default: the one that runs this. */
  uid?: number | undefined;
}

/**
 * The secret by which hubs know one another's messages. Without a file in the settings it stands in the state folder, and is made there once;
 * other hubs need a copy. Throws `bad_config` or `write_failed`.
 */
export function readClusterKey({ key: file }: Pick<ClusterSettings, 'key'>, options: ReadClusterKeyOptions): Buffer {
  return file === undefined ? ownKey(options) : toKey(file, readMounted(file));
}

/** As `readClusterKey`, but makes none. Undefined: it stands in the state folder, and is not there yet. */
export function findClusterKey(
  settings: Pick<ClusterSettings, 'key'>,
  { stateDir, uid = process.getuid?.() }: Omit<ReadClusterKeyOptions, 'logger'>,
): Buffer | undefined {
  if (settings.key !== undefined) return toKey(settings.key, readMounted(settings.key));
  const file = clusterKeyFile(settings, stateDir);
  const text = readPrivateFile(file, { uid });
  return text === undefined ? undefined : toKey(file, text);
}

/** Where the key is that both read. */
export function clusterKeyFile({ key }: Pick<ClusterSettings, 'key'>, stateDir: string): string {
  return key ?? join(stateDir, 'cluster-key');
}

function ownKey({ stateDir, logger, uid = process.getuid?.() }: ReadClusterKeyOptions): Buffer {
  ensurePrivateDir(stateDir, { uid });
  const file = clusterKeyFile({}, stateDir);
  if (readPrivateFile(file, { uid }) === undefined && createPrivateFile(file, `${randomBytes(32).toString('base64url')}\n`)) {
    logger.warn(
      `cluster: made the key of the cluster, "${file}". Each other hub needs a copy of this file: their messages are refused otherwise.`,
    );
  }
  return toKey(file, readPrivateFile(file, { uid }) ?? '');
}

/** A file of the user, or a secret that is mounted: there a link, and another's that the group may read. */
function readMounted(file: string): string {
  const doing = `Cannot use the file "${file}" of "notebridge.cluster.key"`;
  try {
    const others = whoElseMayTouch(file);
    if (others !== undefined) throw new BridgeError('bad_config', `${doing}: ${others}. Run: chmod 600 ${quote(file)}`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
    const why = isThere
      ? `${messageOf(error)}.`
      : `it is not there. Copy it from a hub of the cluster; for the first hub make it: (umask 077 && openssl rand -base64 32 > ${quote(file)})`;
    throw new BridgeError('bad_config', `${doing}: ${why}`, { cause: error });
  }
}

function toKey(file: string, text: string): Buffer {
  const key = text.trim();
  if (key.length >= leastCharacters) return Buffer.from(key);
  const found = `The key of the cluster in "${file}" has ${key.length} characters, and needs ${leastCharacters}.`;
  throw new BridgeError('bad_config', `${found} Make one: openssl rand -base64 32`);
}
