import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** A message of Jupyter's kernel protocol that a kernel has sent, as far as it matters here. */
export interface KernelMessage {
  readonly channel: string;
  readonly type: string;
  /** Its own, for answers to it; empty where the transport leaves it out. */
  readonly header: JsonObject;
  /** The request that it belongs to; empty for none. */
  readonly parentId: string;
  /** The header of that request; empty where the transport leaves it out. */
  readonly parentHeader: JsonObject;
  readonly content: JsonObject;
  readonly metadata: JsonObject;
  readonly buffers: readonly Uint8Array[];
}

/** A message to a kernel. The transport gives it its id. */
export interface KernelRequest {
  readonly channel: 'shell' | 'control' | 'stdin';
  readonly type: string;
  readonly content: JsonObject;
  readonly metadata?: JsonObject | undefined;
  readonly buffers?: readonly Uint8Array[] | undefined;
  /** The header of the message that it answers. */
  readonly parentHeader?: JsonObject | undefined;
}

/** Requests by which code runs in a kernel: cells, and what widgets send. */
const runsCode: ReadonlySet<unknown> = new Set(['execute_request', 'comm_open', 'comm_msg', 'comm_close']);

/**
 * For a status. A kernel is busy and idle for each request, also for those on the control channel, which it answers while a cell runs: what
 * others ask there, as each server does for each new client, says nothing of the cells. `session`: of the client that hears it.
 */
export function tellsOfCells({ parentHeader: { msg_type: type = '', session: asker } }: KernelMessage, session: string): boolean {
  return type === '' || asker === session || runsCode.has(type);
}

/** The language that a kernel names in its answer to a `kernel_info_request`. */
export function readLanguage({ language_info: info }: JsonObject, known: string): { language: string; version: string } {
  const { name = known, version } = isJsonObject(info) ? info : {};
  return { language: String(name).toLowerCase(), version: typeof version === 'string' ? version : '' };
}
