import type { Output } from '../../model/output.js';
import { isTooDeep } from '../messages.js';
import type { KernelMessage, KernelRequest } from './kernel-message.js';

/** A message between a widget in a window and its half in the kernel. */
export interface CommMessage {
  readonly type: 'open' | 'msg' | 'close';
  readonly commId: string;
  /** Names the kind of the other side's half; in `open` alone. */
  readonly targetName?: string;
  readonly data: unknown;
  readonly metadata: { readonly [key: string]: unknown };
  readonly buffers: readonly Uint8Array[];
}

/** An output that code shows, or its clearing. */
export type ShownByCode =
  | { readonly kind: 'output'; readonly output: Output; readonly displayId?: string; readonly update?: boolean }
  | { readonly kind: 'clear'; readonly wait: boolean };

/** Comms of a kernel that has them: Jupyter's way for widgets. They end with the kernel. */
export interface KernelComms {
  /** False of a kernel without comms, in whose place one with comms may come. */
  readonly isSupported: boolean;
  /**
   * Dropped while there is no kernel. Resolves when the kernel has dealt with it, which is after the cell that runs, or has ended. Never
   * rejects. `onShown` receives what code shows that the message calls; default: nobody does.
   */
  send(message: CommMessage, onShown?: (shown: ShownByCode) => void): Promise<void>;
  /** Called with each message of the kernel. Returns the unsubscribe function. */
  onMessage(listener: (message: CommMessage) => void): () => void;
  /**
   * Asked about all that code shows, in order with the messages, before its cell gets it: true takes it away. `cause` is the id of the message that
   * runs the code, as the kernel knows it. Returns the unsubscribe function.
   */
  onShown(listener: ShownListener): () => void;
}

export type ShownListener = (cause: string, read: () => ShownByCode | undefined) => boolean;

/** The request by which a kernel is sent it. */
export function toCommRequest({ type, commId, targetName, data, metadata, buffers }: CommMessage): KernelRequest {
  const content = { comm_id: commId, data, ...(type === 'open' ? { target_name: targetName ?? '' } : {}) };
  return { channel: 'shell', type: `comm_${type}`, content, metadata, buffers };
}

/** Undefined: it is none, or one that could not be passed on. */
export function parseComm({
  type: messageType,
  content,
  metadata,
  buffers,
}: Pick<KernelMessage, 'type' | 'content' | 'metadata' | 'buffers'>): CommMessage | undefined {
  const type = /^comm_(open|msg|close)$/.exec(messageType)?.[1] as CommMessage['type'] | undefined;
  const { comm_id: commId, target_name: targetName, data } = content;
  if (type === undefined || typeof commId !== 'string' || isTooDeep(data) || isTooDeep(metadata)) return undefined;
  return { type, commId, ...(typeof targetName === 'string' ? { targetName } : {}), data: data ?? {}, metadata, buffers };
}
