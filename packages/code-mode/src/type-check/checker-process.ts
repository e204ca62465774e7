import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckedPackage, CheckedTool } from '@notebridge/bindings';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { createHeaderChannel } from '@notebridge/protocol/rpc/header-channel';
import { Peer } from '@notebridge/protocol/rpc/peer';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { whenAborted } from '@notebridge/protocol/util/when-aborted';
import { ServerProcess } from '@notebridge/system/processes/server-process';
import type { Position, Range } from './source-text.js';

/** A folder with the package of one principal and nothing else: what its code may import. */
export interface CheckedView {
  /** By real path. */
  folder: string;
  tools: CheckedPackage['tools'];
}

export interface CheckerProcessOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  folder: string;
  /** How long one answer may take. Then the process is ended, since nothing else stops it. Milliseconds. */
  workMs: number;
  logger: Logger;
  /** Ends it, also while it starts. */
  signal: AbortSignal;
}

const maxMessageBytes = 32 * 1024 * 1024;
const startMs = 60_000;
/** Of views that it keeps in memory. */
const mostViews = 4;
/** Whatever the code is called, no module of Python's has that name. */
const documentName = 'code_of_execute_code.py';
const keeperName = 'kept_by_notebridge.py';
/** Stays open, so that what nearly all code imports stays in memory. */
const keeper = `import asyncio, base64, collections, csv, datetime, functools, io, itertools, json, math, os, pathlib, random, re, statistics, sys, time, typing
import generated.mcp
from generated import ToolError, ToolResult
from generated._function import ToolFunction
`;
/** What every checker has to find, in these words: of one that speaks otherwise nothing is believed. */
const probe = 'def f(*, a: str) -> None: ...\nf(a=1)\nf(b="")\nf()\n';
const probeWords = [
  /^Argument of type "Literal\[1\]" .* parameter "a" of type "str"/,
  /^No parameter named "b"/,
  /^Argument missing for parameter "a"/,
];

/** One language server. It reads its own package and the views, has no program to start, and ends with us. */
export class CheckerProcess {
  readonly #program: ServerProcess;
  readonly #peer: Peer;
  readonly #folder: string;
  readonly #workMs: number;
  readonly #views = new Map<string, CheckedView>();
  readonly #ending = new AbortController();
  /** Resolves with why, in words, when it has ended or is about to. Never rejects. */
  readonly ended = whenAborted(this.#ending.signal).then(() => String(this.#ending.signal.reason));

  private constructor({ command, args, env, folder, workMs, logger, signal }: CheckerProcessOptions) {
    this.#folder = folder;
    this.#workMs = workMs;
    this.#program = new ServerProcess({
      ...{ command, args, env, inherited: {}, cwd: folder },
      onStderrLine: (line) => logger.debug('The type checker said something.', { line }),
    });
    const { output: input, input: output } = this.#program;
    this.#peer = new Peer({
      channel: createHeaderChannel({ input, output, maxMessageBytes }),
      onRequest: async () => ({}),
      onNotification: () => {},
      onFault: () => {},
    });
    void this.#program.ended.then(({ words }) => this.#end(`it ended (${words})`));
    const stop = (): void => void this.stop();
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: this.#ending.signal });
  }

  /** Rejects with `closed` or `timeout` if it does not start, or is none that can be used. */
  static async start(options: CheckerProcessOptions): Promise<CheckerProcess> {
    const checker = new CheckerProcess(options);
    await checker.#orStop(() => checker.#initialize());
    return checker;
  }

  get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  get pid(): number | undefined {
    return this.#program.pid;
  }

  /** Reads what code of the view needs in any case, unless that is done. Rejects with `closed` or `timeout`; then the process is ended. */
  open(view: CheckedView): Promise<void> {
    return this.#orStop(() => this.#open(view));
  }

  /**
   * Checks code as a module beside the package of a view that is open. `use` may ask about the code until it has settled. Rejects with
   * `closed` or `timeout`; then the process is ended.
   */
  check<Result>(view: CheckedView, code: string, use: (checked: CheckedCode) => Promise<Result>): Promise<Result> {
    const work = async (uri: string): Promise<Result> =>
      use({
        diagnostics: await this.#diagnose(uri, this.#workMs),
        toolAt: (position) => this.#toolAt(uri, position, view.tools),
        typeAt: (position) => this.#typeAt(uri, position),
      });
    return this.#orStop(() => this.#withDocument(join(view.folder, documentName), code, work));
  }

  /** The view is not used any more. */
  forget(view: CheckedView): void {
    if (!this.#views.delete(view.folder)) return;
    this.#peer.notify('textDocument/didClose', { textDocument: { uri: uriOf(view.folder, keeperName) } });
    this.#changeFolders([], [view.folder]);
  }

  /** Stopping twice is harmless. */
  async stop(why = 'it was ended'): Promise<void> {
    this.#end(why);
    await this.#program.stop();
  }

  async #orStop<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.stop(messageOf(error));
      throw error;
    }
  }

  async #initialize(): Promise<void> {
    await this.#request('initialize', { processId: null, rootUri: null, locale: 'en', workspaceFolders: [], capabilities }, startMs);
    this.#peer.notify('initialized', {});
    this.#peer.notify('workspace/didChangeConfiguration', { settings });
    await this.#proveIt();
  }

  async #proveIt(): Promise<void> {
    const folder = join(this.#folder, 'probe');
    this.#changeFolders([folder], []);
    const found = await this.#withDocument(join(folder, documentName), probe, (uri) => this.#diagnose(uri, startMs));
    this.#changeFolders([], [folder]);
    if (!probeWords.every((words) => found.some(({ message, code }) => typeof code === 'string' && words.test(message))))
      throw new BridgeError('closed', `it found in a probe what is not there, or not what is: ${JSON.stringify(found).slice(0, 500)}`);
  }

  async #open(view: CheckedView): Promise<void> {
    const isKnown = this.#views.delete(view.folder);
    this.#views.set(view.folder, view);
    if (isKnown) return;
    const [oldest] = this.#views.values();
    if (this.#views.size > mostViews && oldest !== undefined) this.forget(oldest);
    this.#changeFolders([view.folder], []);
    const uri = uriOf(view.folder, keeperName);
    this.#openDocument(uri, keeper);
    await this.#diagnose(uri, startMs);
  }

  async #withDocument<Result>(path: string, text: string, work: (uri: string) => Promise<Result>): Promise<Result> {
    const uri = pathToFileURL(path).href;
    this.#openDocument(uri, text);
    try {
      return await work(uri);
    } finally {
      this.#peer.notify('textDocument/didClose', { textDocument: { uri } });
    }
  }

  #openDocument(uri: string, text: string): void {
    this.#peer.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'python', version: 1, text } });
  }

  async #diagnose(uri: string, timeoutMs: number): Promise<Diagnostic[]> {
    const { items } = await this.#request('textDocument/diagnostic', { textDocument: { uri } }, timeoutMs);
    return Array.isArray(items) ? items.filter(isDiagnostic) : [];
  }

  /** One that may mean another function as well has several signatures. */
  async #toolAt(uri: string, position: Position, tools: CheckedPackage['tools']): Promise<CheckedTool | undefined> {
    const help = await this.#ask('textDocument/signatureHelp', uri, position);
    const signatures = Array.isArray(help.signatures) ? help.signatures.filter(isJsonObject) : [];
    const [first, ...more] = signatures;
    return more.length === 0 ? tools.get(textOf(first?.documentation).trim()) : undefined;
  }

  async #typeAt(uri: string, position: Position): Promise<string | undefined> {
    const { contents } = await this.#ask('textDocument/hover', uri, position);
    return /^\((?:variable|constant|parameter)\) \w+: (.*)$/m.exec(textOf(contents))?.[1];
  }

  /** Where there is nothing to say, these answer with null, which is no answer of the kind that others are. */
  #ask(method: string, uri: string, position: Position): Promise<JsonObject> {
    return this.#request(method, { textDocument: { uri }, position }, this.#workMs).catch((error: unknown) => {
      if (codeOf(error) === 'bad_message') return {};
      throw error;
    });
  }

  #changeFolders(added: readonly string[], removed: readonly string[]): void {
    const toFolder = (folder: string): JsonObject => ({ uri: pathToFileURL(folder).href, name: folder });
    this.#peer.notify('workspace/didChangeWorkspaceFolders', { event: { added: added.map(toFolder), removed: removed.map(toFolder) } });
  }

  #request(method: string, params: JsonObject, timeoutMs: number): Promise<JsonObject> {
    return this.#peer.request(method, params, { timeoutMs });
  }

  #end(why: string): void {
    this.#ending.abort(why);
    this.#peer.close(new BridgeError('closed', `The type checker is gone: ${why}.`));
  }
}

/** What a type checker says of a place. */
export interface Diagnostic {
  range: Range;
  message: string;
  /** The rule, as `reportCallIssue`. */
  code?: unknown;
}

export interface CheckedCode {
  diagnostics: readonly Diagnostic[];
  /** The tool that is called where this place is in the parentheses; undefined if that is none, or another function as well. */
  toolAt(position: Position): Promise<CheckedTool | undefined>;
  /** The type of the variable there, as it is printed. */
  typeAt(position: Position): Promise<string | undefined>;
}

/** The file that says how code is checked, for the folder of a view. Nothing but what stands here is reported as an error. */
export const checkerConfig = `${JSON.stringify({
  include: [documentName],
  typeCheckingMode: 'off',
  pythonVersion: '3.14',
  pythonPlatform: 'Linux',
  useLibraryCodeForTypes: false,
  reportCallIssue: 'error',
  reportArgumentType: 'error',
  reportAttributeAccessIssue: 'error',
  reportIndexIssue: 'error',
  reportGeneralTypeIssues: 'error',
  reportMissingImports: 'error',
  reportUnusedCoroutine: 'error',
})}\n`;

export const checkerConfigName = 'pyrightconfig.json';

const capabilities = {
  workspace: { workspaceFolders: true },
  textDocument: {
    diagnostic: { dynamicRegistration: true },
    hover: { contentFormat: ['plaintext'] },
    signatureHelp: { signatureInformation: { documentationFormat: ['plaintext'] } },
  },
};

const settings = { python: { analysis: { diagnosticMode: 'openFilesOnly', logLevel: 'Error', useLibraryCodeForTypes: false } } };

function uriOf(folder: string, name: string): string {
  return pathToFileURL(join(folder, name)).href;
}

function textOf(documentation: unknown): string {
  const text = isJsonObject(documentation) ? documentation.value : documentation;
  return typeof text === 'string' ? text : '';
}

function isDiagnostic(value: unknown): value is Diagnostic {
  if (!isJsonObject(value) || typeof value.message !== 'string' || !isJsonObject(value.range)) return false;
  return isPosition(value.range.start) && isPosition(value.range.end);
}

function isPosition(value: unknown): value is Position {
  return isJsonObject(value) && typeof value.line === 'number' && typeof value.character === 'number';
}
