import { resolve } from 'node:path';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { KeptCellIds } from '../host/kept-files.js';
import { NotebookError } from '../model/errors.js';
import { checkArguments } from '../tools/arguments.js';
import { describeNotebookTools } from '../tools/notebook-tools.js';
import { adds, looks, type ToolContext, type ToolDescription, type ToolResult, toFailedAnswer, toResult } from '../tools/tool.js';
import type { JupyterServer } from './jupyter-server.js';
import { listKernelSessions } from './kernel-sessions.js';
import { LabNotebook } from './lab-notebook.js';
import { LabServers, type LabTarget } from './lab-servers.js';
import { pathOnServer } from './local-servers.js';
import type { RunKeeper } from './run-keeper.js';
import { parseLabAddress, toLabAddress } from './server-address.js';
import { assertNotebookThere, createNotebook, listFolder } from './server-contents.js';

const serverArgument = {
  type: 'string',
  description: 'Address of the Jupyter server, as an error names it. Needed where there are several.',
} as const;

/** The tools of a Jupyter server that are about its notebooks, beside those of the notebook in use. */
const listNotebooks: ToolDescription = {
  name: 'list_notebooks',
  description:
    'Lists the notebooks of a folder of the Jupyter server, those with a running kernel, and which one is in use. Answers {"server", "in_use", "notebooks", "folders", "running"}.',
  inputSchema: {
    type: 'object',
    properties: { folder: { type: 'string', description: 'Path of the folder. Default: the root folder.' }, server: serverArgument },
    required: [],
    additionalProperties: false,
  },
  annotations: { ...looks('List the notebooks'), idempotentHint: true },
};

const connectNotebook: ToolDescription = {
  name: 'connect_notebook',
  description:
    'Chooses the notebook of the Jupyter server that all other tools work in from now on, for this agent alone. Answers {"status", "server", "path", "live", "people", "cells", "kernel"}; "live" says that people see edits at once.',
  inputSchema: {
    type: 'object',
    properties: {
      notebook: { type: 'string', description: 'Path of the notebook, as in list_notebooks, or its whole address.' },
      create: { type: 'boolean', description: 'Makes an empty notebook there first.' },
      allow_edits: {
        type: 'boolean',
        description: 'Only after a person has agreed: change the notebook although it may be open in a tab that does not follow.',
      },
    },
    required: ['notebook'],
    additionalProperties: false,
  },
  annotations: { ...adds('Choose a notebook'), idempotentHint: true },
};

export interface LabWorkspaceOptions {
  target: LabTarget;
  /** Where Jupyter's files are, and `JUPYTER_TOKEN`. Default: that of this process. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** A person has agreed to edits of notebooks that may be open in tabs which do not follow. Default false. */
  allowEdits?: boolean | undefined;
  /** What an agent is to do where a person has to agree to its edits. Default: as `connect_notebook` has it. */
  howToAllow?: string | undefined;
  /** Keeps the run of the notebook that is under way, for the next process. Default: none does. */
  keeperOf?: ((notebook: { server: string; path: string }) => RunKeeper) | undefined;
  /** Keeps the ids of cells whose files have none. Default: as long as their notebook is open. */
  cellIds?: KeptCellIds | undefined;
  logger?: Logger | undefined;
  /** Called with each token, so that logs can be kept free of it. */
  onSecret?: ((secret: string) => void) | undefined;
  /** Receives faults that the caller sees only as "Internal error". */
  onFault?: ((error: unknown) => void) | undefined;
}

interface ConnectArguments {
  notebook: string;
  create?: boolean;
  allow_edits?: boolean;
}

/** Which folder of which server is meant. */
interface FolderArguments {
  /** Default: the root folder. */
  folder?: string | undefined;
  /** Its address. Default: the only one there is. */
  server?: string | undefined;
}

/** What a folder of a server has, and which of the server's notebooks have a kernel. */
export type LabContents = { server: string } & { [name: string]: unknown };

const maxListed = 200;
const maxNamed = 20;
/** What is to be saved when the agent ends has so long. Milliseconds. */
const closeTimeoutMs = 10_000;

/** The notebooks of the Jupyter servers that an agent may work in: each session of an agent has one in use, and never another's. */
export class LabWorkspace {
  /** Of each notebook. */
  readonly notebookTools: readonly ToolDescription[] = describeNotebookTools();
  readonly tools: readonly ToolDescription[] = [...this.notebookTools, listNotebooks, connectNotebook];
  /** What `contents` may be asked, as properties of a JSON Schema. */
  readonly contentsArguments = { ...listNotebooks.inputSchema.properties };
  readonly #options: LabWorkspaceOptions;
  readonly #servers: LabServers;
  /** By server and path, as they were opened. */
  readonly #open = new Map<string, Promise<LabNotebook>>();
  readonly #inUse = new Map<string, LabNotebook>();
  /** When a tool of it was called last. Milliseconds since the epoch. */
  readonly #calledAt = new WeakMap<LabNotebook, number>();
  #isClosed = false;

  constructor(options: LabWorkspaceOptions) {
    this.#options = options;
    this.#servers = new LabServers(options);
  }

  /** Never rejects for an error of a tool: that is a result with `isError`. `sessionId`: of the agent. */
  async callTool(name: string, args: unknown, { sessionId, ...context }: ToolContext & { sessionId: string }): Promise<ToolResult> {
    try {
      if (this.#isClosed) throw new NotebookError('closed', 'The notebooks were closed.');
      if (name === listNotebooks.name) {
        const { server, ...contents } = await this.contents(args);
        return toResult({ value: { server, in_use: this.#inUse.get(sessionId)?.path ?? null, ...contents } });
      }
      if (name === connectNotebook.name) {
        const checked = checkArguments(name, connectNotebook.inputSchema, args) as unknown as ConnectArguments;
        return toResult({ value: await this.#use(checked, sessionId) });
      }
      const notebook = await this.#notebookOf(sessionId);
      this.#calledAt.set(notebook, Date.now());
      return await notebook.callTool(name, args, context);
    } catch (error) {
      return toFailedAnswer(error, this.#options.onFault);
    }
  }

  /** Those that are open; not those that are just being opened for longer than it takes to ask. */
  async openNotebooks(): Promise<LabNotebook[]> {
    const ready = await Promise.all([...this.#open.values()].map((opening) => Promise.race([opening, undefined]).catch(() => undefined)));
    return ready.filter((notebook) => notebook !== undefined);
  }

  /** Milliseconds since the epoch; undefined: no tool of it was called. */
  lastCallOf(notebook: LabNotebook): number | undefined {
    return this.#calledAt.get(notebook);
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

  /** What keeps the notebook away that the target names, or the notebooks that there are, as a failed result. Never rejects. */
  async whyNone(): Promise<ToolResult> {
    const why = await this.locate().then(
      () => foundMeanwhile,
      (error: unknown) => error,
    );
    return toFailedAnswer(why, this.#options.onFault);
  }

  /** The notebooks of a folder, and those with a kernel. Rejects with `no_notebook` where it is not known which server is meant, or as it does. */
  async contents(args: unknown): Promise<LabContents> {
    const { folder = '', server: name }: FolderArguments = checkArguments(listNotebooks.name, listNotebooks.inputSchema, args);
    const server = await this.#servers.find(name);
    const [{ notebooks, folders }, sessions] = await Promise.all([listFolder(server, folder), listKernelSessions(server)]);
    const running = sessions.map(({ path, kernelName }) => ({ path, kernel: kernelName }));
    const left = notebooks.length - maxListed;
    return {
      server: server.name,
      notebooks: notebooks.slice(0, maxListed),
      ...(left > 0 ? { left_out: `${left} more notebooks of this folder` } : {}),
      folders: folders.slice(0, maxListed),
      running,
      ...(await this.#servers.others(server)),
    };
  }

  /**
   * Where the notebook is, by its path on the server or its address. Rejects with `no_notebook` where no server that may be used has it, or it
   * is not known which one is meant.
   */
  async find(text: string, { create = false }: { create?: boolean } = {}): Promise<{ baseUrl: string; path: string }> {
    const { server, path } = await this.#find(text, create);
    if (!create) await assertNotebookThere(server, path);
    return { baseUrl: await this.#servers.ownAddressOf(server.name), path };
  }

  /** As `find`, of a file of this machine; undefined: it lies below the folder of no server that may be used. */
  async findFile(file: string, how: { create?: boolean } = {}): Promise<{ baseUrl: string; path: string } | undefined> {
    const server = await this.#servers.ofFile(file);
    if (server === undefined) return undefined;
    return this.find(toLabAddress(server.baseUrl, pathOnServer(server, file) ?? ''), how);
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

  async #use({ notebook: text, create, allow_edits: allowEdits }: ConnectArguments, sessionId: string): Promise<object> {
    const { server, path } = await this.#find(text, create);
    const notebook = await this.#openOne(server, path);
    if (allowEdits === true) notebook.allowEdits = true;
    this.#inUse.set(sessionId, notebook);
    const { info } = notebook.session.kernel;
    return { status: 'connected', ...notebook.place, cells: notebook.session.document.cells.length, kernel: info.displayName };
  }

  async #find(text: string, create = false): Promise<{ server: JupyterServer; path: string }> {
    const address = /^https?:/.test(text) ? parseLabAddress(text) : undefined;
    const path = (address?.path ?? (address ? '' : text)).replace(/^\/+/, '');
    if (!path.endsWith('.ipynb'))
      throw new NotebookError('bad_arguments', `"${text.replace(/[?#].*$/s, '')}" is no notebook: its name has to end in .ipynb.`);
    const server = await this.#servers.find(address?.baseUrl);
    if (create) await createNotebook(server, path);
    return { server, path };
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
    const { allowEdits, howToAllow, logger, keeperOf, cellIds } = this.#options;
    const open = () =>
      LabNotebook.open({ server, path, allowEdits, howToAllow, cellIds, logger, keeper: keeperOf?.({ server: server.name, path }) });
    const opening = this.#open.get(key) ?? open();
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
      `No notebook of ${server.name} is chosen. ${there} Call connect_notebook with the path of the one that is meant.`,
      {
        data: { server: server.name, notebooks: paths.slice(0, maxNamed) },
      },
    );
  }
}

const foundMeanwhile = new NotebookError('no_notebook', 'The notebook has just been found. Call again.');
