import { resolve } from 'node:path';
import type { Logger } from '@notebridge/kit/logger';
import { NotebookError } from '../model/errors.js';
import { checkArguments } from '../tools/arguments.js';
import { describeNotebookTools } from '../tools/notebook-tools.js';
import { type ToolContext, type ToolDescription, type ToolResult, toFailedAnswer } from '../tools/tool.js';
import type { JupyterServer } from './jupyter-server.js';
import { listKernelSessions } from './kernel-sessions.js';
import { LabNotebook } from './lab-notebook.js';
import { LabServers, type LabTarget } from './lab-servers.js';
import { pathOnServer } from './local-servers.js';
import { createNotebook, listFolder } from './server-contents.js';
import { listNotebooks, useNotebook } from './workspace-tools.js';

export interface LabWorkspaceOptions {
  target: LabTarget;
  /** Where Jupyter's files are, and `JUPYTER_TOKEN`. Default: that of this process. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** A person has agreed to edits of notebooks that may be open in tabs which do not follow. Default false. */
  allowEdits?: boolean | undefined;
  /** What an agent is to do where a person has to agree to its edits. Default: as `use_notebook` has it. */
  howToAllow?: string | undefined;
  logger?: Logger | undefined;
  /** Called with each token, so that logs can be kept free of it. */
  onSecret?: ((secret: string) => void) | undefined;
  /** Receives faults that the caller sees only as "Internal error". */
  onFault?: ((error: unknown) => void) | undefined;
}

interface UseArguments {
  path: string;
  server?: string;
  create?: boolean;
  allow_edits?: boolean;
}

const maxListed = 200;
const maxNamed = 20;
/** What is to be saved when the agent ends has so long. Milliseconds. */
const closeTimeoutMs = 10_000;

/** The notebooks of the Jupyter servers that an agent may work in: each session of an agent has one in use, and never another's. */
export class LabWorkspace {
  readonly tools: readonly ToolDescription[] = [...describeNotebookTools(), listNotebooks, useNotebook];
  readonly #options: LabWorkspaceOptions;
  readonly #servers: LabServers;
  /** By server and path, as they were opened. */
  readonly #open = new Map<string, Promise<LabNotebook>>();
  readonly #inUse = new Map<string, LabNotebook>();
  #isClosed = false;

  constructor(options: LabWorkspaceOptions) {
    this.#options = options;
    this.#servers = new LabServers(options);
  }

  /** Never rejects for an error of a tool: that is a result with `isError`. `sessionId`: of the agent. */
  async callTool(name: string, args: unknown, { sessionId, ...context }: ToolContext & { sessionId: string }): Promise<ToolResult> {
    try {
      if (this.#isClosed) throw new NotebookError('closed', 'The notebooks were closed.');
      if (name === listNotebooks.name) return toResult(await this.#list(checkArguments(name, listNotebooks.inputSchema, args), sessionId));
      if (name === useNotebook.name)
        return toResult(await this.#use(checkArguments(name, useNotebook.inputSchema, args) as unknown as UseArguments, sessionId));
      return await (await this.#notebookOf(sessionId)).callTool(name, args, context);
    } catch (error) {
      return toFailedAnswer(error, this.#options.onFault);
    }
  }

  /** Where the notebook is that the target names. Rejects with `no_notebook` where it names none, or no server has it. */
  async locate(): Promise<{ baseUrl: string; path: string }> {
    const { path, file } = this.#options.target;
    if (file !== undefined) {
      const server = await this.#servers.findForFile(resolve(file));
      return { baseUrl: server.baseUrl, path: pathOnServer(server, resolve(file)) ?? file };
    }
    if (path === undefined) throw await this.#noneChosen();
    const { name } = await this.#servers.find(undefined);
    return { baseUrl: await this.#servers.ownAddressOf(name), path };
  }

  /** One notebook for a caller that keeps it: whoever calls has the same. To be released, or closed with all. */
  async open(path: string, { allowEdits = false, create = false }: { allowEdits?: boolean; create?: boolean } = {}): Promise<LabNotebook> {
    const server = await this.#servers.find(undefined);
    if (create) await createNotebook(server, path);
    const notebook = await this.#openOne(server, path);
    if (allowEdits) notebook.allowEdits = true;
    return notebook;
  }

  /** Ends what was opened; the kernel goes on. Rejects with what is not saved. */
  async release(notebook: LabNotebook): Promise<void> {
    for (const [key, opening] of this.#open) if ((await opening.catch(() => undefined)) === notebook) this.#open.delete(key);
    await notebook.close();
  }

  /** Kernels go on; what is not saved is named by the error. A server that does not answer is not waited for any longer than 10 s. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#servers.close(), closeTimeoutMs);
    try {
      await this.#closeAll();
    } finally {
      clearTimeout(timer);
      this.#servers.close();
    }
  }

  async #closeAll(): Promise<void> {
    const open = await Promise.allSettled(this.#open.values());
    this.#open.clear();
    const ends = await Promise.allSettled(open.map((opened) => (opened.status === 'fulfilled' ? opened.value.close() : undefined)));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #list({ folder = '', server: name }: { folder?: string; server?: string }, sessionId: string): Promise<object> {
    const server = await this.#servers.find(name);
    const [{ notebooks, folders }, sessions] = await Promise.all([listFolder(server, folder), listKernelSessions(server)]);
    const running = sessions.map(({ path, kernelName }) => ({ path, kernel: kernelName }));
    const left = notebooks.length - maxListed;
    return {
      server: server.name,
      in_use: this.#inUse.get(sessionId)?.path ?? null,
      notebooks: notebooks.slice(0, maxListed),
      ...(left > 0 ? { left_out: `${left} more notebooks of this folder` } : {}),
      folders: folders.slice(0, maxListed),
      running,
      ...(await this.#servers.others(server)),
    };
  }

  async #use(args: UseArguments, sessionId: string): Promise<object> {
    const path = args.path.replace(/^\/+/, '');
    if (!path.endsWith('.ipynb')) throw new NotebookError('bad_arguments', `"${args.path}" is no notebook: its name has to end in .ipynb.`);
    const server = await this.#servers.find(args.server);
    if (args.create === true) await createNotebook(server, path);
    const notebook = await this.#openOne(server, path);
    if (args.allow_edits === true) notebook.allowEdits = true;
    this.#inUse.set(sessionId, notebook);
    const { info } = notebook.session.kernel;
    return { ...notebook.place, cells: notebook.session.document.cells.length, kernel: info.displayName };
  }

  async #notebookOf(sessionId: string): Promise<LabNotebook> {
    const inUse = this.#inUse.get(sessionId);
    if (inUse) return inUse;
    const { path } = await this.locate();
    const notebook = await this.#openOne(await this.#servers.find(undefined), path);
    this.#inUse.set(sessionId, notebook);
    return notebook;
  }

  async #openOne(server: JupyterServer, path: string): Promise<LabNotebook> {
    for (const opening of this.#open.values()) {
      const notebook = await opening.catch(() => undefined);
      if (notebook && notebook.server === server && notebook.path === path) return notebook;
    }
    const key = `${server.name} ${path}`;
    const { allowEdits, howToAllow, logger } = this.#options;
    const opening = this.#open.get(key) ?? LabNotebook.open({ server, path, allowEdits, howToAllow, logger });
    this.#open.set(key, opening);
    try {
      return await opening;
    } catch (error) {
      if (this.#open.get(key) === opening) this.#open.delete(key);
      throw error;
    }
  }

  async #noneChosen(): Promise<NotebookError> {
    const server = await this.#servers.find(undefined);
    const [{ notebooks }, sessions] = await Promise.all([listFolder(server, ''), listKernelSessions(server)]);
    const paths = [...new Set([...sessions.map(({ path }) => path), ...notebooks.map(({ path }) => path)])];
    const named = paths
      .slice(0, maxNamed)
      .map((path) => `"${path}"`)
      .join(', ');
    const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : '';
    const there = paths.length === 0 ? 'It has none in its root folder; "create": true makes one.' : `It has ${named}${more}.`;
    return new NotebookError(
      'no_notebook',
      `No notebook of ${server.name} is chosen. ${there} Call use_notebook with the path of the one that is meant.`,
      {
        data: { server: server.name, notebooks: paths.slice(0, maxNamed) },
      },
    );
  }
}

function toResult(value: object): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}
