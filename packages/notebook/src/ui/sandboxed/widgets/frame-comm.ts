import type { ICallbacks, IClassicComm } from '@jupyter-widgets/base';
import { sayToWindow } from '../window-link.js';
import { toBase64 } from './binary.js';

type Buffers = readonly (ArrayBuffer | ArrayBufferView)[];

const waiting = new Map<number, () => void>();
let lastCall = 0;
let relayed = 0;

/** Calls the function, and sends nothing meanwhile: the window in which it was done has told the kernel of all that follows. */
export function withoutSending(act: () => void): void {
  relayed++;
  try {
    act();
  } finally {
    relayed--;
  }
}

/** The kernel has dealt with a call. */
export function endCall(call: number): void {
  const end = waiting.get(call);
  waiting.delete(call);
  end?.();
}

/** The way of one model to its kernel. What comes from there is given to the model by its manager. */
export class FrameComm implements IClassicComm {
  readonly comm_id: string;
  readonly target_name = 'jupyter.widget';
  #onClose: (() => void) | undefined;

  constructor(commId: string) {
    this.comm_id = commId;
  }

  /**
   * Passes on what a person did here. A page that nobody has touched is shown, and says nothing: neither a value that a script sets nor a widget that
   * plays by itself is a person's act.
   */
  send(data: unknown, callbacks?: ICallbacks, _metadata?: unknown, buffers: Buffers = []): string {
    const call = ++lastCall;
    const end = () => callbacks?.iopub?.status?.({ content: { execution_state: 'idle' } } as never);
    if (relayed > 0 || !navigator.userActivation.hasBeenActive) {
      // A model counts its message only after this.
      queueMicrotask(end);
      return String(call);
    }
    waiting.set(call, end);
    sayToWindow({ type: 'call', call, commId: this.comm_id, data: data as { [key: string]: unknown }, buffers: buffers.map(toBase64) });
    return String(call);
  }

  /** A kernel opens its comms itself. */
  open(): string {
    return '';
  }

  /** What this page drops, others may show. */
  close(): string {
    return '';
  }

  on_msg(): void {}

  on_close(listener: (message: unknown) => void): void {
    this.#onClose = () => listener({});
  }

  /** The kernel has closed it. */
  end(): void {
    this.#onClose?.();
  }
}
