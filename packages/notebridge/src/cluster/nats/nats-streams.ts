import type { Logger } from '@notebridge/kit/logger';
import type { ClusterAudit } from '../../config/cluster-settings.js';
import { BridgeError } from '../../core/errors.js';
import { StoreUnavailable } from '../../state/shared-store.js';
import { JetStreamFault, type NatsLink } from './nats-link.js';

/** A stream as JetStream has it: its names, and times in nanoseconds. */
interface StreamConfig {
  name: string;
  subjects?: string[];
  num_replicas?: number;
  max_msgs_per_subject?: number;
  allow_msg_ttl?: boolean;
  subject_delete_marker_ttl?: number;
  first_seq?: number;
  [more: string]: unknown;
}

export interface StreamInfo {
  config: StreamConfig;
  state: { last_seq: number };
  /** When the server answered, by its clock. */
  ts?: string;
}

const nanosPerMs = 1_000_000;
const nanosPerDay = 86_400_000 * nanosPerMs;
/** How long it is kept that a key was there. A watch that was away for longer asks. */
const markerMs = 600_000;
/**
 * So long NATS knows which messages of the audit it has: of one without an answer a hub does not know it, and sends it again when NATS is back. It
 * costs NATS some hundred bytes for each of them.
 */
const duplicateMs = 600_000;
const notFound = 10_059;
const nameInUse = 10_058;
/** Not so many servers, or none with so much room. */
const noPeers = new Set([10_005, 10_074]);

export interface EnsureOptions {
  /** Undefined: three where there are three servers. */
  replicas: number | undefined;
  logger: Logger;
  /** Of a stream that is there. Default `all`. */
  mayChange?: 'all' | 'replicas' | 'nothing' | undefined;
  /** What else a person can do where it is refused. */
  advice?: string;
}

/** What is written of a stream: which subject, and with which settings. */
export function toBucketConfig(bucket: string, highestRevision: number): StreamConfig {
  return {
    name: toStream(bucket),
    description: 'What the hubs of Notebridge agree by',
    subjects: [`$KV.${bucket}.>`],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_msgs_per_subject: 1,
    allow_direct: true,
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_msg_ttl: true,
    subject_delete_marker_ttl: markerMs * nanosPerMs,
    // A store that was lost and is made anew goes on above all that hubs have seen of the one before: a revision never means two entries.
    first_seq: Math.max(Date.now(), highestRevision + 1_000_000),
  };
}

export function toAuditConfig(name: string, { maxDays, maxBytes }: ClusterAudit): StreamConfig {
  return {
    name: `notebridge-${name}-audit`,
    description: 'Calls of all hubs of Notebridge',
    subjects: [`notebridge.${name}.audit.>`],
    storage: 'file',
    retention: 'limits',
    discard: 'old',
    max_age: maxDays * nanosPerDay,
    max_bytes: maxBytes,
    duplicate_window: duplicateMs * nanosPerMs,
  };
}

/** The stream of a bucket, as NATS names it. */
export function toStream(bucket: string): string {
  return `KV_${bucket}`;
}

export async function streamInfo(link: NatsLink, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await link.ask<StreamInfo>(`$JS.API.STREAM.INFO.${stream}`, '');
  } catch (error) {
    if (error instanceof JetStreamFault && error.errCode === notFound) return undefined;
    throw toFault(`look at the stream "${stream}"`, error);
  }
}

/**
 * Makes the stream where it is not there, or gives it what it lacks. Resolves to why fewer servers keep it than could, if it is so. Rejects with
 * `bad_config` if that can't be.
 */
export async function ensureStream(link: NatsLink, wanted: StreamConfig, options: EnsureOptions): Promise<string | undefined> {
  const { replicas, mayChange = 'all' } = options;
  const found = await streamInfo(link, wanted.name);
  if (found === undefined) return createStream(link, wanted, options);
  if (mayChange === 'nothing') return undefined;
  const kept = found.config.num_replicas ?? 1;
  const changes = mayChange === 'all' ? changesOf(found.config, wanted) : {};
  if (Object.keys(changes).length > 0) await changeStream(link, found.config, changes, options);
  const count = replicas ?? (isClustered(link) ? Math.max(3, kept) : kept);
  if (count === kept) return undefined;
  try {
    // Alone: where it can't be had, all else can.
    await changeStream(link, { ...found.config, ...changes }, { num_replicas: count }, options);
    return undefined;
  } catch (error) {
    const { cause } = error as Error;
    if (replicas !== undefined || !(cause instanceof JetStreamFault)) throw error;
    return `Fewer servers of NATS keep the stream "${wanted.name}" than could (${kept}): ${cause.message}.`;
  }
}

async function changeStream(
  link: NatsLink,
  config: StreamConfig,
  changes: Partial<StreamConfig>,
  { logger, advice }: EnsureOptions,
): Promise<void> {
  const stream = config.name;
  try {
    await link.ask(`$JS.API.STREAM.UPDATE.${stream}`, { ...config, ...changes });
    logger.info('cluster: changed a stream of NATS', { stream, changes });
  } catch (error) {
    throw toFault(`change the stream "${stream}" (${JSON.stringify(changes)})`, error, advice);
  }
}

/** What it can't work without, and what the config says. */
function changesOf(found: StreamConfig, wanted: StreamConfig): Partial<StreamConfig> {
  const changes: Partial<StreamConfig> = {};
  if (wanted.allow_msg_ttl === true) {
    if (found.allow_msg_ttl !== true) changes.allow_msg_ttl = true;
    if ((found.subject_delete_marker_ttl ?? 0) <= 0) changes.subject_delete_marker_ttl = wanted.subject_delete_marker_ttl as number;
    if (found.max_msgs_per_subject !== 1) changes.max_msgs_per_subject = 1;
  }
  for (const limit of ['max_age', 'max_bytes', 'duplicate_window']) {
    if (wanted[limit] !== undefined && found[limit] !== wanted[limit]) changes[limit] = wanted[limit];
  }
  if (wanted.subjects?.some((subject) => !found.subjects?.includes(subject))) changes.subjects = wanted.subjects;
  return changes;
}

async function createStream(link: NatsLink, wanted: StreamConfig, { replicas, advice }: EnsureOptions): Promise<string | undefined> {
  const create = (count: number): Promise<unknown> => link.ask(`$JS.API.STREAM.CREATE.${wanted.name}`, { ...wanted, num_replicas: count });
  try {
    await create(replicas ?? (isClustered(link) ? 3 : 1));
    return undefined;
  } catch (error) {
    // Another hub was faster.
    if (error instanceof JetStreamFault && error.errCode === nameInUse) return undefined;
    if (replicas !== undefined || !(error instanceof JetStreamFault) || !noPeers.has(error.errCode)) throw refusal(error);
  }
  await create(1).catch((error: unknown) => {
    if (!(error instanceof JetStreamFault && error.errCode === nameInUse)) throw refusal(error);
  });
  return `One server of NATS alone keeps the stream "${wanted.name}": there are no three.`;

  function refusal(error: unknown): unknown {
    return toFault(`make the stream "${wanted.name}"`, error, advice);
  }
}

function isClustered(link: NatsLink): boolean {
  return link.connection.info?.cluster !== undefined;
}

/** What JetStream refuses for good is to be fixed by a person; what it can't do now may pass. */
export function toFault(doing: string, error: unknown, advice = ''): unknown {
  if (!(error instanceof JetStreamFault)) return error;
  const text = `NATS refused to ${doing}: ${error.message}.`;
  // JetStream is off, for the server or the account.
  if (error.errCode === 10_039 || error.errCode === 10_076) {
    return new BridgeError('bad_config', `${text} Turn JetStream on, at the server (\`jetstream {}\`) and for the account.`, {
      cause: error,
    });
  }
  if (error.code >= 500) {
    return new StoreUnavailable(
      `${text} Look for a full disk, or limits of the account, with \`nats server report jetstream\`, and make room: nothing runs out meanwhile.${advice}`,
      error,
    );
  }
  return new BridgeError('bad_config', text, { cause: error });
}
