import type { ShownByCode } from '../kernel/jupyter-protocol/kernel-comms.js';
import { isOutput } from '../kernel/messages.js';
import type { Output } from '../model/output.js';
import { editOutputs, OutputLog } from '../model/output-log.js';
import { fromKernel } from '../model/outputs.js';
import type { ModelState } from './model-state.js';

export interface CapturedOutputsOptions {
  /** The widget shows these from now on. */
  show: (commId: string, outputs: readonly Output[]) => void;
  /** Tells the kernel, which keeps them too. Resolves when it has taken them. */
  send: (commId: string, outputs: readonly Output[]) => Promise<void>;
}

interface Capture {
  log: OutputLog;
  outputs: readonly Output[];
  /** The message whose outputs it takes; empty: none. */
  cause: string;
  clearsWithNext: boolean;
  isSending: boolean;
  /** The kernel has not been told of the newest ones. */
  isBehind: boolean;
}

/**
 * `Output` widgets: what code shows within `with out:` comes to them, and not to the cell. Jupyter leaves that to each window; here it is done once,
 * so that it works with no window and is not doubled with two.
 */
export class CapturedOutputs {
  readonly #options: CapturedOutputsOptions;
  readonly #captures = new Map<string, Capture>();
  /** By the message that runs the code; the innermost `with` last. */
  readonly #stacks = new Map<string, string[]>();
  #isShowing = false;

  constructor(options: CapturedOutputsOptions) {
    this.#options = options;
  }

  /** What changes now was captured here, and does not come from the kernel. */
  get isShowing(): boolean {
    return this.#isShowing;
  }

  /** The kernel has set these attributes of the model. */
  follow(commId: string, model: ModelState, names: readonly string[]): void {
    if (model.get('_model_module') !== '@jupyter-widgets/output' || model.get('_model_name') !== 'OutputModel') return;
    const capture: Capture = this.#captures.get(commId) ?? {
      ...logOf([]),
      cause: '',
      clearsWithNext: false,
      isSending: false,
      isBehind: false,
    };
    this.#captures.set(commId, capture);
    if (names.includes('outputs')) Object.assign(capture, logOf(model.get('outputs')), { clearsWithNext: false });
    if (names.includes('msg_id')) this.#listenTo(commId, capture, String(model.get('msg_id') ?? ''));
  }

  /** True: what is shown goes to a widget. */
  take(cause: string, read: () => ShownByCode | undefined): boolean {
    const commId = this.#stacks.get(cause)?.at(-1);
    const capture = commId === undefined ? undefined : this.#captures.get(commId);
    if (commId === undefined || !capture) return false;
    const shown = read();
    // A display that is shown anew may stand anywhere.
    if (!shown || (shown.kind === 'output' && shown.update)) return false;
    if (shown.kind === 'clear') {
      capture.clearsWithNext = shown.wait;
      if (shown.wait) return true;
      Object.assign(capture, logOf([]));
      this.#show(commId, capture, []);
      return true;
    }
    if (capture.clearsWithNext) Object.assign(capture, logOf([]), { clearsWithNext: false });
    const edits = capture.log.append(fromKernel(shown.output));
    this.#show(commId, capture, edits.reduce(editOutputs, capture.outputs));
    return true;
  }

  shownBy(commId: string): readonly Output[] {
    return this.#captures.get(commId)?.outputs ?? [];
  }

  forget(commId: string): void {
    const capture = this.#captures.get(commId);
    if (!capture) return;
    this.#listenTo(commId, capture, '');
    this.#captures.delete(commId);
  }

  clear(): void {
    this.#captures.clear();
    this.#stacks.clear();
  }

  #listenTo(commId: string, capture: Capture, cause: string): void {
    if (cause === capture.cause) return;
    const left = (this.#stacks.get(capture.cause) ?? []).filter((each) => each !== commId);
    if (left.length > 0) this.#stacks.set(capture.cause, left);
    else this.#stacks.delete(capture.cause);
    capture.cause = cause;
    if (cause !== '') this.#stacks.set(cause, [...(this.#stacks.get(cause) ?? []), commId]);
  }

  #show(commId: string, capture: Capture, outputs: readonly Output[]): void {
    if (outputs === capture.outputs && outputs.length > 0) return;
    capture.outputs = outputs;
    this.#isShowing = true;
    try {
      this.#options.show(commId, outputs);
    } finally {
      this.#isShowing = false;
    }
    capture.isBehind = true;
    if (!capture.isSending) void this.#tellKernel(commId, capture);
  }

  /** One message at a time: a kernel that is busy for an hour is not told of each line that it has printed. */
  async #tellKernel(commId: string, capture: Capture): Promise<void> {
    capture.isSending = true;
    // All that comes at once is one message.
    await Promise.resolve();
    while (capture.isBehind && this.#captures.get(commId) === capture) {
      capture.isBehind = false;
      await this.#options.send(commId, capture.outputs);
    }
    capture.isSending = false;
  }
}

/** Of whatever the kernel says that the outputs are. */
function logOf(outputs: unknown): Pick<Capture, 'log' | 'outputs'> {
  const known = Array.isArray(outputs) ? outputs.filter(isOutput).map(fromKernel) : [];
  return { log: new OutputLog(known), outputs: known };
}
