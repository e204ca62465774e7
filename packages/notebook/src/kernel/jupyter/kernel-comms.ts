/** A message between a widget in a window and its half in the kernel. */
export interface CommMessage {
  readonly type: 'open' | 'msg' | 'close';
  readonly commId: string;
  /** Of `open`: what the other side makes of it. */
  readonly targetName?: string;
  readonly data: unknown;
  readonly metadata: { readonly [key: string]: unknown };
  readonly buffers: readonly Uint8Array[];
}

/** Comms of a kernel that has them: Jupyter's way for widgets. They end with the kernel. */
export interface KernelComms {
  /** Dropped while there is no kernel. The kernel takes it when it is done with the cell that runs. */
  send(message: CommMessage): void;
  /** Called with each message of the kernel. Returns the unsubscribe function. */
  onMessage(listener: (message: CommMessage) => void): () => void;
}

/** What Jupyter sends for it. */
export function toCommContent({ type, commId, targetName, data }: CommMessage): { messageType: string; content: object } {
  const content = { comm_id: commId, data, ...(type === 'open' ? { target_name: targetName ?? '' } : {}) };
  return { messageType: `comm_${type}`, content };
}

/** Undefined: it is none. */
export function parseComm(
  messageType: string,
  content: unknown,
  metadata: unknown,
  buffers: readonly Uint8Array[],
): CommMessage | undefined {
  const type = /^comm_(open|msg|close)$/.exec(messageType)?.[1] as CommMessage['type'] | undefined;
  if (type === undefined || typeof content !== 'object' || content === null) return undefined;
  const { comm_id: commId, target_name: targetName, data } = content as { [key: string]: unknown };
  if (typeof commId !== 'string') return undefined;
  return {
    type,
    commId,
    ...(typeof targetName === 'string' ? { targetName } : {}),
    data: data ?? {},
    metadata: typeof metadata === 'object' && metadata !== null ? (metadata as CommMessage['metadata']) : {},
    buffers,
  };
}
