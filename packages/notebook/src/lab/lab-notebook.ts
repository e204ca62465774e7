import { parseJson } from '@notebridge/protocol/exact-json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { drawInKernel } from '../host/chart-pictures.js';
import type { KeptCellIds } from '../host/kept-files.js';
import { NotebookError } from '../model/errors.js';
import { createImageScaler } from '../outputs/scale-image.js';
import { stackOf } from '../session/host-error.js';
import { createNotebookSession, type NotebookSession } from '../session/session.js';
import { createNotebookTools } from '../tools/notebook-tools.js';
import { type NotebookTool, type ToolContext, type ToolResult, toFailedAnswer } from '../tools/tool.js';
import type { JupyterServer } from './jupyter-server.js';
import { findKernelSession, isKernelBusy, type KernelSpec, readKernelSpecs } from './kernel-sessions.js';
import { LabKernel } from './lab-kernel.js';
import { LiveNotebook } from './live-notebook.js';
import type { NotebookSource } from './notebook-source.js';
import { assertNoRival } from './rival.js';
import { type KeptRun, parseKeptRun, type RunKeeper, type SentCell } from './run-keeper.js';
import { toLabAddress } from './server-address.js';
import { StoredNotebook } from './stored-notebook.js';

export interface LabNotebookOptions {
  server: JupyterServer;
  /** Below the server's root folder, without a slash at its beginning. */
  path: string;
  /** A person has agreed that a notebook is edited that may be open in a tab which does not follow. Default false. */
  allowEdits?: boolean | undefined;
  /** What an agent is to do where a person has to agree. Default: as `connect_notebook` has it. */
  howToAllow?: string | undefined;
  /** Keeps the run that is under way for the next process that opens the notebook. Default: none does. */
  keeper?: RunKeeper | undefined;
  /** Keeps the ids of cells whose files have none. Default: as long as the notebook is open. */
  cellIds?: KeptCellIds | undefined;
  logger?: Logger | undefined;
}

/** One notebook of a Jupyter server: the same document that people have open in Lab, and the same kernel. */
export class LabNotebook {
  readonly session: NotebookSession;
  readonly tools: readonly NotebookTool[];
  readonly server: JupyterServer;
  /** A person has agreed to edits that open tabs do not follow. */
  allowEdits: boolean;
  readonly #source: NotebookSource;
  readonly #howToAllow: string;
  readonly #kernel: LabKernel;
  readonly #stopListening: () => void;

  private constructor(
    { server, allowEdits = false, howToAllow = callConnectNotebook, keeper, logger = silentLogger }: LabNotebookOptions,
    source: NotebookSource,
    spec: KernelSpec,
  ) {
    this.server = server;
    this.allowEdits = allowEdits;
    this.#howToAllow = howToAllow;
    this.#source = source;
    const onSent = (sent: SentCell) => {
      const { running } = this.session;
      if (!running) return;
      const { id, cellId, by, startedAt = Date.now() } = running;
      keeper?.keep({ name: this.session.runs.nameOf(id), cellId, by, startedAt, sent });
    };
    // A shared document holds numbers as Lab does, which rounds them.
    const parse = source.isLive ? undefined : parseJson;
    this.#kernel = new LabKernel({ server, path: () => source.path, spec, parse, onSent });
    this.session = createNotebookSession({ document: source.document, kernel: this.#kernel, title: source.path });
    this.tools = createNotebookTools(this.session, {
      onFault: (error) => logger.error('A tool failed.', { error: stackOf(error) }),
      scaleImage: createImageScaler(),
      isKernelBusy: () => isKernelBusy(server, source.path),
      drawChart: (output) => drawInKernel(this.#kernel, output),
      fileNote: () => source.note,
    });
    this.#stopListening = this.session.onEvent((event) => {
      if (event.type === 'started' || event.type === 'finished') source.setRunning(event.run.cellId, event.type === 'started');
      if (event.type === 'finished') keeper?.keep(undefined);
    });
  }

  /** Rejects with `no_notebook` where the server does not have it, `not_supported`, or as `JupyterServer` does. */
  static async open(options: LabNotebookOptions): Promise<LabNotebook> {
    const { server, keeper } = options;
    const [source, specs] = await Promise.all([openSource(options), readKernelSpecs(server)]);
    try {
      const spec = await chooseSpec(server, source, specs);
      const kept = parseKeptRun(keeper?.read());
      const isThere = kept && (await findKernelSession(server, source.path))?.kernelId === kept.sent.kernelId;
      const notebook = new LabNotebook(options, source, spec);
      if (isThere) notebook.#follow(kept);
      else if (kept) keeper?.keep(undefined);
      return notebook;
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  get path(): string {
    return this.#source.path;
  }

  /** What a person opens. */
  get address(): string {
    return toLabAddress(this.server.name, this.path);
  }

  /** What `get_notebook_info` says besides what all notebooks have. */
  get place(): { server: string; path: string; live: boolean; people: readonly string[] } {
    const { path, isLive, people } = this.#source;
    return { server: this.server.name, path, live: isLive, people };
  }

  /** Never rejects for an error of a tool: that is a result with `isError`. */
  async callTool(name: string, args: unknown, context: ToolContext = {}): Promise<ToolResult> {
    const tool = this.tools.find((candidate) => candidate.name === name);
    if (!tool) throw new NotebookError('unknown_tool', `The notebook has no tool ${JSON.stringify(name.slice(0, 100))}.`);
    const forEdit = !tool.annotations.readOnlyHint;
    try {
      await this.#source.ready({ forEdit });
      if (forEdit) await this.#assertMayEdit();
      const result = await tool.run(args, context);
      if (forEdit) await this.#source.settle();
      return name === 'get_notebook_info' && !result.isError ? this.#withPlace(result) : result;
    } catch (error) {
      return toFailedAnswer(error);
    }
  }

  async close(): Promise<void> {
    this.#stopListening();
    try {
      await this.session.close();
    } finally {
      await this.#source.close();
    }
  }

  /** The run goes on in a kernel that is the server's. */
  #follow({ sent, ...run }: KeptRun): void {
    this.session.follow({ ...run, follow: (heard) => this.#kernel.follow(sent, heard) });
  }

  /** Without shared documents an open tab shows the old notebook, and whether there is one cannot be known: only who has a kernel. */
  async #assertMayEdit(): Promise<void> {
    if (this.#source.isLive || this.allowEdits) return;
    const session = await findKernelSession(this.server, this.path);
    if (!session || session.id === this.#kernel.ownSessionId) return;
    const why = `A person may have "${this.path}" open in Jupyter: a kernel of it is running. ${this.server.name} has no jupyter-collaboration, so an open tab would not show your changes until it is reloaded, and would ask which version to keep when it saves ("pip install jupyter-collaboration" in its environment, and a new start, change that).`;
    throw new NotebookError('ask_person', `${why} Nothing was changed. ${this.#howToAllow}`, { data: { path: this.path } });
  }

  #withPlace(result: ToolResult): ToolResult {
    const [first, ...rest] = result.content;
    if (first?.type !== 'text') return result;
    return { ...result, content: [{ type: 'text', text: JSON.stringify({ ...JSON.parse(first.text), ...this.place }) }, ...rest] };
  }
}

const callConnectNotebook = 'Ask the person; if they agree, call connect_notebook with this path and allow_edits: true, then call again.';

async function openSource({ server, path, cellIds, logger }: LabNotebookOptions): Promise<NotebookSource> {
  const live = await LiveNotebook.open({ server, path });
  if (live) return live;
  await assertNoRival(server);
  return StoredNotebook.open({ server, path, cellIds, logger });
}

/** The kernel that runs already, else what the notebook names, else the server's default. */
async function chooseSpec(
  server: JupyterServer,
  { path, document }: NotebookSource,
  { specs, standard }: Awaited<ReturnType<typeof readKernelSpecs>>,
): Promise<KernelSpec> {
  const { kernelspec } = document.metadata as { kernelspec?: { name?: unknown } };
  const running = (await findKernelSession(server, path))?.kernelName;
  const byName = (name: unknown) => specs.find((spec) => spec.name === name);
  return byName(running) ?? byName(kernelspec?.name) ?? byName(standard) ?? { name: '', displayName: 'Default kernel', language: 'python' };
}
