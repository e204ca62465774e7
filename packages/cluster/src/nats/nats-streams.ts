import type { StreamConfig, StreamInfo, StreamUpdateConfig } from '@nats-io/jetstream';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { ClusterAudit } from '../cluster-settings.js';
import { type NatsLink, NatsRefusal } from './nats-link.js';

/** The settings of a stream that we write. Times are in nanoseconds. */
type WantedStream = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

const nanosPerMs = 1_000_000;
const nanosPerDay = 86_400_000 * nanosPerMs;
/** How long it is kept that a key was there. A watch that was away for longer asks. */
const markerMs = 600_000;
/**
 * So long NATS knows which messages of the audit it has: of one without an answer a hub does not know it, and sends it again when NATS is back. It
 * costs NATS some hundred bytes for each of them.
 */
const duplicateMs = 600_000;
/** There is no such stream. */
export const noStream = 10_059;
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

export function toBucketConfig(bucket: string, highestRevision: number): WantedStream {
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

export function toAuditConfig(name: string, { maxDays, maxBytes }: ClusterAudit): WantedStream {
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
    return await link.ask(`look at the stream "${stream}"`, () => link.manager.streams.info(stream));
  } catch (error) {
    if (codeOf(error) === noStream) return undefined;
    throw error;
  }
}

/**
 * Makes the stream where it is not there, or gives it what it lacks. Resolves to why fewer servers keep it than could, if it is so. Rejects with
 * `NatsRefusal` if that can't be.
 */
export async function ensureStream(link: NatsLink, wanted: WantedStream, options: EnsureOptions): Promise<string | undefined> {
  const { replicas, logger, mayChange = 'all', advice } = options;
  const { name } = wanted;
  const found = await streamInfo(link, name);
  if (found === undefined) return createStream(link, wanted, options);
  if (mayChange === 'nothing') return undefined;
  const change = async (changes: Partial<StreamUpdateConfig>): Promise<void> => {
    const doing = `change the stream "${name}" (${JSON.stringify(changes)})`;
    await link.ask(doing, () => link.manager.streams.update(name, changes), advice);
    logger.info('cluster: changed a stream of NATS', { stream: name, changes });
  };
  const changes = mayChange === 'all' ? changesOf(found.config, wanted) : {};
  if (Object.keys(changes).length > 0) await change(changes);
  const kept = found.config.num_replicas ?? 1;
  const count = replicas ?? (isClustered(link) ? Math.max(3, kept) : kept);
  if (count === kept) return undefined;
  try {
    // Alone: where it can't be had, all else can.
    await change({ num_replicas: count });
    return undefined;
  } catch (error) {
    if (replicas !== undefined || codeOf(error) === undefined) throw error;
    return `Fewer servers of NATS keep the stream "${name}" than could (${kept}): ${messageOf((error as NatsRefusal).cause)}.`;
  }
}

/** What it can't work without, and what the config says. */
function changesOf(found: StreamConfig, wanted: WantedStream): Partial<StreamUpdateConfig> {
  const changes: Partial<StreamUpdateConfig> = {};
  if (wanted.allow_msg_ttl === true) {
    if (found.allow_msg_ttl !== true) changes.allow_msg_ttl = true;
    if ((found.subject_delete_marker_ttl ?? 0) <= 0) changes.subject_delete_marker_ttl = markerMs * nanosPerMs;
    if (found.max_msgs_per_subject !== 1) changes.max_msgs_per_subject = 1;
  }
  for (const limit of ['max_age', 'max_bytes', 'duplicate_window'] as const) {
    const value = wanted[limit];
    if (value !== undefined && found[limit] !== value) changes[limit] = value;
  }
  if (wanted.subjects?.some((subject) => !found.subjects?.includes(subject))) changes.subjects = wanted.subjects;
  return changes;
}

async function createStream(
  link: NatsLink,
  wanted: WantedStream,
  options: EnsureOptions,
  count = options.replicas ?? (isClustered(link) ? 3 : 1),
): Promise<string | undefined> {
  const { name } = wanted;
  try {
    await link.ask(`make the stream "${name}"`, () => link.manager.streams.add({ ...wanted, num_replicas: count }), options.advice);
  } catch (error) {
    const code = codeOf(error);
    // Another hub was faster.
    if (code === nameInUse) return undefined;
    if (options.replicas !== undefined || count === 1 || code === undefined || !noPeers.has(code)) throw error;
    await createStream(link, wanted, options, 1);
    return `One server of NATS alone keeps the stream "${name}": there are no three.`;
  }
  return undefined;
}

function isClustered(link: NatsLink): boolean {
  return link.connection.info?.cluster !== undefined;
}

function codeOf(error: unknown): number | undefined {
  return error instanceof NatsRefusal ? error.code : undefined;
}
