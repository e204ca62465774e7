import { Listeners } from '@notebridge/protocol/util/listeners';
import type { MimeBundle } from '../../model/output.js';
import { type AskKernel, completeCode, evaluateCode, inspectCode } from '../jupyter-protocol/code-help.js';
import type { CommMessage, KernelComms, ShownListener } from '../jupyter-protocol/kernel-comms.js';
import type { Completions, ExecuteOptions, Execution } from '../kernel.js';
import type { KernelTools } from '../kernel-tools.js';
import { type EngineEvents, QueuedKernel, type QueueOptions } from '../queued-kernel.js';
import { JupyterEngine } from './jupyter-engine.js';
import type { LaunchOptions } from './jupyter-process.js';
import { createSandboxNotes, type Restriction } from './sandbox-notes.js';

export interface JupyterKernelOptions extends QueueOptions, LaunchOptions {
  /** The functions that code may call as `generated`. Default: none. */
  tools?: KernelTools | undefined;
  /** Called when a sandbox has kept code from something. */
  onRestricted?: ((restriction: Restriction) => void) | undefined;
}

/** Any kernel of Jupyter, by a helper in a Python that has jupyter_client. */
export class JupyterKernel extends QueuedKernel<JupyterEngine> {
  /** Widgets. */
  readonly comms: KernelComms;
  protected readonly engineName = 'the kernel';
  readonly #options: JupyterKernelOptions;
  readonly #comms = new Listeners<CommMessage>();
  readonly #shownListeners = new Set<ShownListener>();
  readonly #ask: AskKernel = async (...asked) => this.idleEngine?.client.request(...asked);

  constructor(options: JupyterKernelOptions) {
    const name = options.kernelName ?? 'python3';
    super(options, { name, displayName: name, language: options.kernelName === undefined ? 'python' : '', version: '' });
    this.#options = options;
    this.comms = {
      isSupported: true,
      send: async (message, onShown) => this.engine?.client.sendComm(message, onShown),
      onMessage: (listener) => this.#comms.add(listener),
      onShown: (listener) => {
        this.#shownListeners.add(listener);
        return () => this.#shownListeners.delete(listener);
      },
    };
  }

  override execute(source: string, options: ExecuteOptions): Promise<Execution> {
    const { python, folder, files = 'ro', allowNet = [], onRestricted } = this.#options;
    const note = createSandboxNotes({ python, folder, files, allowNet }, source);
    const onOutput: ExecuteOptions['onOutput'] = (output, displayId) => {
      // Which layer there is is known by now: it was looked at before the first cell.
      if (!this.layers?.some(({ name, active }) => name === 'operating system' && active)) return options.onOutput(output, displayId);
      const { outputs, restriction } = note(output);
      for (const each of outputs) options.onOutput(each, displayId);
      if (restriction) onRestricted?.(restriction);
    };
    return super.execute(source, { ...options, onOutput });
  }

  /** Callbacks of widgets run while no cell does. */
  override async interrupt(): Promise<void> {
    this.idleEngine?.interruptComms();
    await super.interrupt();
  }

  complete(code: string, position: number): Promise<Completions> {
    return completeCode(this.#ask, code, position);
  }

  inspect(code: string, position: number, detail: 0 | 1 = 0): Promise<MimeBundle | undefined> {
    return inspectCode(this.#ask, code, position, detail);
  }

  async evaluate(expression: string): Promise<string | undefined> {
    return this.info.language === 'python' ? evaluateCode(this.#ask, expression) : undefined;
  }

  protected open(events: EngineEvents): JupyterEngine {
    return new JupyterEngine(
      {
        ...this.#options,
        onComm: (message) => this.#comms.emit(message),
        onShown: (cause, read) => [...this.#shownListeners].some((listener) => listener(cause, read)),
      },
      events,
    );
  }
}

/** A kernel of Jupyter for a notebook. Nothing runs until `start()`, which rejects with what is missing and the command that adds it. */
export function createJupyterKernel(options: JupyterKernelOptions): JupyterKernel {
  return new JupyterKernel(options);
}
