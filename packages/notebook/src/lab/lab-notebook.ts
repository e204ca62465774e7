import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { NotebookError } from '../model/errors.js';
import { createNotebookSession, type NotebookSession } from '../session.js';
import { createNotebookTools } from '../tools/notebook-tools.js';
import type { NotebookTool, ToolContext, ToolResult } from '../tools/tool.js';
import { encodePath, type JupyterServer } from './jupyter-server.js';
import { findKernelSession, type KernelSpec, readKernelSpecs } from './kernel-sessions.js';
import { LabKernel } from './lab-kernel.js';
import { LiveNotebook } from './live-notebook.js';

export interface LabNotebookOptions {
  server: JupyterServer;
  /** Below the server's root folder, without a slash at its beginning. */
  path: string;
  logger?: Logger | undefined;
}

/** One notebook of a Jupyter server: the same document that people have open in Lab, and the same kernel. */
export class LabNotebook {
  readonly session: NotebookSession;
  readonly tools: readonly NotebookTool[];
  readonly server: JupyterServer;
  readonly #live: LiveNotebook;
  readonly #stopListening: () => void;

  private constructor({ server, logger = silentLogger }: LabNotebookOptions, live: LiveNotebook, spec: KernelSpec) {
    this.server = server;
    this.#live = live;
    const kernel = new LabKernel({ server, path: () => live.path, spec });
    this.session = createNotebookSession({ document: live.document, kernel, title: live.path });
    const onFault = (error: unknown) =>
      logger.error('A tool failed.', { error: error instanceof Error ? (error.stack ?? '') : String(error) });
    this.tools = createNotebookTools(this.session, { onFault });
    this.#stopListening = this.session.onEvent((event) => {
      if (event.type === 'started' || event.type === 'finished') live.setRunning(event.run.cellId, event.type === 'started');
    });
  }

  /** Rejects with `no_notebook` where the server does not have it, or as `JupyterServer` does. */
  static async open(options: LabNotebookOptions): Promise<LabNotebook> {
    const { server, path } = options;
    const [live, specs] = await Promise.all([LiveNotebook.open({ server, path }), readKernelSpecs(server)]);
    if (!live) throw await whyNot(server, path);
    try {
      return new LabNotebook(options, live, await chooseSpec(server, live, specs));
    } catch (error) {
      await live.close();
      throw error;
    }
  }

  get path(): string {
    return this.#live.path;
  }

  /** Never rejects for an error of a tool: that is a result with `isError`. */
  async callTool(tool: NotebookTool, args: unknown, context: ToolContext = {}): Promise<ToolResult> {
    const isLook = tool.annotations.readOnlyHint;
    try {
      await this.#live.ready();
    } catch (error) {
      if (!isLook) return toErrorResult(error);
    }
    const result = await tool.run(args, context);
    try {
      if (!isLook) await this.#live.settle();
      return result;
    } catch (error) {
      return toErrorResult(error);
    }
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.session.close();
    await this.#live.close();
  }
}

/** An error as the notebook's own tools answer it. */
export function toErrorResult(error: unknown): ToolResult {
  if (!(error instanceof NotebookError)) throw error;
  const text = JSON.stringify({ error: { code: error.code, message: error.message, ...error.data } });
  return { content: [{ type: 'text', text }], isError: true };
}

/** The kernel that runs already, else what the notebook names, else the server's default. */
async function chooseSpec(
  server: JupyterServer,
  { path, document }: LiveNotebook,
  { specs, standard }: Awaited<ReturnType<typeof readKernelSpecs>>,
): Promise<KernelSpec> {
  const { kernelspec } = document.metadata as { kernelspec?: { name?: unknown } };
  const running = (await findKernelSession(server, path))?.kernelName;
  const byName = (name: unknown) => specs.find((spec) => spec.name === name);
  return byName(running) ?? byName(kernelspec?.name) ?? byName(standard) ?? { name: '', displayName: 'Default kernel', language: 'python' };
}

async function whyNot(server: JupyterServer, path: string): Promise<NotebookError> {
  const { status } = await server.ask(`api/contents/${encodePath(path)}`, { query: { content: '0' } });
  if (status === 404) return new NotebookError('no_notebook', `${server.name} has no notebook "${path}".`, { data: { path } });
  return new NotebookError('server_failed', `${server.name} has no jupyter-collaboration.`, { data: { path } });
}
