import { Listeners } from '@notebridge/kit/listeners';
import { type CommMessage, type KernelComms, parseComm } from '../kernel/jupyter/kernel-comms.js';
import type { KernelMessage } from './kernel-message.js';

/** The comms of a kernel that JupyterLab draws the widgets of: what code says to them is read, and nothing is sent. */
export class ObservedComms implements KernelComms {
  readonly isSupported = true;
  readonly #messages = new Listeners<CommMessage>();

  send(): Promise<void> {
    return Promise.resolve();
  }

  onMessage(listener: (message: CommMessage) => void): () => void {
    return this.#messages.add(listener);
  }

  /** JupyterLab moves what is shown within a widget there. */
  onShown(): () => void {
    return () => {};
  }

  take({ channel, type, content, metadata }: KernelMessage): void {
    const comm = channel === 'iopub' ? parseComm(type, content, metadata, []) : undefined;
    if (comm !== undefined) this.#messages.emit(comm);
  }
}
