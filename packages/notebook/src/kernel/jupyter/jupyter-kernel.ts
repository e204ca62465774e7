import type { MimeBundle } from '../../model/output.js';
import type { RelaySeam } from '../../relay/reach.js';
import type { FolderAccess, RunPlace, SandboxMode } from '../../sandbox/spec.js';
import type { Completions, ExecuteOptions, Execution, KernelInfo } from '../kernel.js';
import type { KernelTools } from '../kernel-tools.js';
import type { Layer } from '../layers.js';
import { type EngineEvents, QueuedKernel, type QueueOptions } from '../queued-kernel.js';
import { toCodePoints, toCompletions, toEvaluated, toEvaluation, toInspection } from './code-help.js';
import { type EngineInfo, JupyterEngine } from './jupyter-engine.js';
import type { CommMessage, KernelComms, ShownListener } from './kernel-comms.js';
import { createSandboxNotes, type Restriction } from './sandbox-notes.js';

export interface JupyterKernelOptions extends QueueOptions {
  /** A Python that has jupyter_client, by absolute path. */
  python: string;
  /** The kernelspec to start, as that Python finds it. Default: that Python's own ipykernel. */
  kernelName?: string | undefined;
  /** The notebook's folder, where the kernel begins. */
  folder: string;
  /** The notebook's file, for messages. */
  file?: string | undefined;
  /** What code may call as `generated`. Default: nothing. */
  tools?: KernelTools | undefined;
  /** Whether kernel and helper are in a sandbox of the operating system. Default `off`: the code is the user, as in Jupyter. */
  sandbox?: SandboxMode | undefined;
  /**
   * What of the folder is reached within a sandbox. Default `ro`. Without a sandbox `start` rejects with `sandbox_unavailable` if it is
   * given, since nothing would keep it.
   */
  files?: FolderAccess | undefined;
  /** Servers that code in a sandbox may reach, on ports 443 and 80: `pypi.org`, `*.example.org`, `example.org:8443`. Default: none. */
  allowNet?: readonly string[] | undefined;
  /** @internal For tests, whose servers are on loopback. */
  relaySeam?: RelaySeam | undefined;
  /** Folders and files of this program that no kernel in a sandbox sees, whatever it is given: its state, tokens, logs. */
  ours?: readonly string[] | undefined;
  /** The files and folders that this program runs or imports: `files: 'rw'` is refused where code could change them. */
  runs?: readonly RunPlace[] | undefined;
  /** Called when a sandbox has kept code from something. */
  onRestricted?: ((restriction: Restriction) => void) | undefined;
  /** @internal Where the helper's Python files are. Default: `python/` beside this file. */
  programUrl?: URL | undefined;
}

const requestTimeoutMs = 10_000;
/** Of a picture that the kernel draws, with what it imports for that. */
const evaluationTimeoutMs = 30_000;

/** Any kernel of Jupyter, by a helper in a Python that has jupyter_client. */
export class JupyterKernel extends QueuedKernel<JupyterEngine> {
  /** Widgets. */
  readonly comms: KernelComms;
  protected readonly restarted = 'the kernel';
  readonly #options: JupyterKernelOptions;
  readonly #commListeners = new Set<(message: CommMessage) => void>();
  readonly #shownListeners = new Set<ShownListener>();
  #about: EngineInfo;

  constructor(options: JupyterKernelOptions) {
    super(options);
    this.#options = options;
    const name = options.kernelName ?? 'python3';
    this.#about = { name, displayName: name, language: options.kernelName === undefined ? 'python' : '', version: '', layers: [] };
    this.comms = {
      isSupported: true,
      send: async (message, onShown) => this.engine?.sendComm(message, onShown),
      onMessage: (listener) => {
        this.#commListeners.add(listener);
        return () => this.#commListeners.delete(listener);
      },
      onShown: (listener) => {
        this.#shownListeners.add(listener);
        return () => this.#shownListeners.delete(listener);
      },
    };
  }

  get info(): KernelInfo {
    const { layers: _, ...info } = this.#about;
    return info;
  }

  get layers(): readonly Layer[] | undefined {
    return this.#about.layers.length > 0 ? this.#about.layers : undefined;
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

  async complete(code: string, position: number): Promise<Completions> {
    const content = { code, cursor_pos: toCodePoints(code, position) };
    return toCompletions(code, position, await this.idleEngine?.request('complete_request', content, requestTimeoutMs));
  }

  async inspect(code: string, position: number, detail: 0 | 1 = 0): Promise<MimeBundle | undefined> {
    const content = { code, cursor_pos: toCodePoints(code, position), detail_level: detail };
    return toInspection(await this.idleEngine?.request('inspect_request', content, requestTimeoutMs));
  }

  async evaluate(expression: string): Promise<string | undefined> {
    if (this.#about.language !== 'python') return undefined;
    return toEvaluated(await this.idleEngine?.request('execute_request', toEvaluation(expression), evaluationTimeoutMs));
  }

  protected open(events: EngineEvents): JupyterEngine {
    const {
      kernelName,
      tools,
      sandbox = 'off',
      files,
      ours,
      runs,
      allowNet,
      relaySeam,
      programUrl = new URL('./python/', import.meta.url),
    } = this.#options;
    const { python, folder, file } = this.#options;
    const { startTimeoutMs } = this;
    const onReady = (about: EngineInfo) => {
      this.#about = about;
    };
    const onComm = (message: CommMessage) => {
      for (const listener of this.#commListeners) listener(message);
    };
    const onShown: ShownListener = (cause, read) => [...this.#shownListeners].some((listener) => listener(cause, read));
    const launch = { python, folder, file, sandbox, files, ours, runs, allowNet, relaySeam, programUrl, kernelName, tools, startTimeoutMs };
    return new JupyterEngine({ ...launch, onReady, onComm, onShown }, events);
  }
}

/** A kernel of Jupyter for a notebook. Nothing runs until `start()`, which rejects with what is missing and the command that adds it. */
export function createJupyterKernel(options: JupyterKernelOptions): JupyterKernel {
  return new JupyterKernel(options);
}
