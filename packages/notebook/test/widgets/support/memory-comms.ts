import type { CommMessage, KernelComms, ShownByCode, ShownListener } from '../../../src/kernel/jupyter-protocol/kernel-comms.js';
import type { Output } from '../../../src/model/output.js';

/** Comms of a kernel in memory: a test says what the kernel says. */
export class MemoryComms implements KernelComms {
  readonly isSupported = true;
  /** What it was told and has not dealt with yet. */
  readonly waiting: { readonly message: CommMessage; end(): void }[] = [];
  readonly #listeners = new Set<(message: CommMessage) => void>();
  readonly #shownListeners = new Set<ShownListener>();

  send(message: CommMessage): Promise<void> {
    return new Promise((resolve) => this.waiting.push({ message, end: resolve }));
  }

  onMessage(listener: (message: CommMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onShown(listener: ShownListener): () => void {
    this.#shownListeners.add(listener);
    return () => this.#shownListeners.delete(listener);
  }

  /** Code has opened a model. */
  open(commId: string, state: object, { targetName = 'jupyter.widget', ...binary }: Binary & { targetName?: string } = {}): void {
    this.#say({ type: 'open', commId, targetName, ...toMessage({ state }, binary) });
  }

  /** Code has set some of it. */
  update(commId: string, state: object, binary: Binary = {}): void {
    this.#say({ type: 'msg', commId, ...toMessage({ method: 'update', state }, binary) });
  }

  say(commId: string, data: object): void {
    this.#say({ type: 'msg', commId, ...toMessage(data, {}) });
  }

  close(commId: string): void {
    this.#say({ type: 'close', commId, ...toMessage({}, {}) });
  }

  /** Code of this message shows something. True: a widget has taken it. */
  show(cause: string, shown: ShownByCode): boolean {
    return [...this.#shownListeners].some((listener) => listener(cause, () => shown));
  }

  print(cause: string, text: string): boolean {
    const output: Output = { output_type: 'stream', name: 'stdout', text };
    return this.show(cause, { kind: 'output', output });
  }

  #say(message: CommMessage): void {
    for (const listener of this.#listeners) listener(message);
  }
}

interface Binary {
  buffer_paths?: readonly (readonly (string | number)[])[];
  buffers?: readonly Uint8Array[];
}

function toMessage(data: object, { buffer_paths = [], buffers = [] }: Binary): Pick<CommMessage, 'data' | 'metadata' | 'buffers'> {
  return { data: { ...data, buffer_paths }, metadata: {}, buffers };
}

/** The state of an Output widget that code has just made. */
export const outputState = { _model_module: '@jupyter-widgets/output', _model_name: 'OutputModel', msg_id: '', outputs: [] };
