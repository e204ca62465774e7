import { isJsonObject } from '@notebridge/protocol/json';
import type { Actor } from '../model/cell.js';
import type { EarlierRun } from '../session/run-queue.js';

/** A cell that a kernel of a server has been sent: enough for another process to hear the rest of it. */
export interface SentCell {
  readonly kernelId: string;
  /** Under which the kernel's server keeps what nobody was there to hear. */
  readonly clientId: string;
  readonly messageId: string;
  readonly source: string;
  /** Its code runs; before, cells of others may be in front of it. */
  readonly hasBegun: boolean;
}

/** The run of a notebook that is under way, with what the next process needs to follow it. Plain JSON. */
export interface KeptRun extends Omit<EarlierRun, 'follow'> {
  readonly sent: SentCell;
}

/** Where a notebook's run is kept as long as it is under way: its kernel outlives the process that asked for it. */
export interface RunKeeper {
  /** What an earlier process kept, as it was; undefined if none did. */
  read(): unknown;
  /** Keeps it in place of the one before; undefined: none is under way. Never throws. */
  keep(run: KeptRun | undefined): void;
}

/** Undefined for what is none. */
export function parseKeptRun(kept: unknown): KeptRun | undefined {
  if (!isJsonObject(kept) || !isJsonObject(kept.by) || !isJsonObject(kept.sent)) return undefined;
  const { name, cellId, startedAt, by, sent } = kept;
  const texts = [name, cellId, by.name, sent.kernelId, sent.clientId, sent.messageId, sent.source];
  const isKept = texts.every((text) => typeof text === 'string') && isActorKind(by.kind) && typeof startedAt === 'number';
  return isKept ? (kept as unknown as KeptRun) : undefined;
}

const isActorKind = (kind: unknown): kind is Actor['kind'] => kind === 'person' || kind === 'agent';
