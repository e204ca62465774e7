import { createHash } from 'node:crypto';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { DocumentEvent, NotebookDocument } from '../model/document.js';
import { type Change, isContentOperation } from '../model/operation.js';
import type { Output } from '../model/output.js';
import { toText } from '../model/text.js';
import type { TrustedOutputs } from './kept-files.js';
import { otherProgram } from './synced-notebook.js';

export interface OutputTrustOptions {
  document: NotebookDocument;
  /** The notebook's file, by its real path. Without one, trust ends with the host. */
  path: string | undefined;
  /** What is kept of it. Default: nothing. */
  kept: TrustedOutputs | undefined;
  logger: Logger;
}

/** How long outputs of a trusted notebook may come before they are noted. Milliseconds. */
const noteMs = 500;

/**
 * Whether scripts in the outputs of a notebook may run in windows, apart from everything: those that runs of this session have made, and others
 * after a person said so. Kept with it is which
 * outputs with scripts there were; what runs here adds its own. So a file that has come to hold others meanwhile is not trusted any more.
 */
export class OutputTrust {
  readonly #options: OutputTrustOptions;
  readonly #listeners = new Listeners<boolean>();
  readonly #ranListeners = new Listeners<readonly string[]>();
  /** Outputs with scripts that runs of this session have made, wherever they stand now. */
  readonly #made = new Set<string>();
  readonly #ranHere = new Set<string>();
  readonly #known: Set<string>;
  readonly #stopListening: () => void;
  readonly #digests = new WeakMap<Output, string | null>();
  #isTrusted: boolean;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: OutputTrustOptions, known: readonly string[] | undefined) {
    this.#options = options;
    this.#known = new Set(known);
    this.#isTrusted = known !== undefined && this.#present().every((digest) => this.#known.has(digest));
    this.#stopListening = options.document.onChange((event) => {
      this.#noteRun(event);
      this.#noteTrusted(event);
    });
  }

  /** Reads what is kept of the notebook. */
  static async open(options: OutputTrustOptions): Promise<OutputTrust> {
    const { path, kept } = options;
    return new OutputTrust(options, path === undefined ? undefined : await kept?.read(path));
  }

  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  onChange(listener: (isTrusted: boolean) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Cells in which nothing could run but what runs of this session have made, and where something could. */
  get ranHere(): readonly string[] {
    return [...this.#ranHere];
  }

  onRanHere(listener: (ranHere: readonly string[]) => void): () => void {
    return this.#ranListeners.add(listener);
  }

  /** A person's word, for all that the notebook holds now. */
  set(isTrusted: boolean): void {
    if (isTrusted === this.#isTrusted) return;
    this.#isTrusted = isTrusted;
    this.#known.clear();
    if (isTrusted) for (const digest of this.#present()) this.#known.add(digest);
    this.#write();
    this.#listeners.emit(isTrusted);
  }

  async close(): Promise<void> {
    this.#stopListening();
    if (this.#timer !== undefined) this.#note();
    await this.#writing;
  }

  /** Before windows hear of the change: they draw the output at once. */
  #noteRun({ change, before, after }: DocumentEvent): void {
    const id = (after ?? before)?.cell.id;
    const isText = change.op.type === 'editOutputs' && change.op.edit.type === 'writeText';
    if (id === undefined || isText || before?.cell.outputs === after?.cell.outputs) return;
    const digests = this.#digestsOf(after?.cell.outputs ?? []);
    if (!isContentOperation(change.op) && !isOtherProgram(change)) for (const digest of digests) this.#made.add(digest);
    const isOwn = digests.length > 0 && digests.every((digest) => this.#made.has(digest));
    if (isOwn === this.#ranHere.has(id)) return;
    if (isOwn) this.#ranHere.add(id);
    else this.#ranHere.delete(id);
    this.#ranListeners.emit(this.ranHere);
  }

  #noteTrusted({ change, before, after }: DocumentEvent): void {
    if (!this.#isTrusted || !after) return;
    if (!isOtherProgram(change)) {
      this.#timer ??= setTimeout(() => this.#note(), noteMs).unref();
      return;
    }
    const were = new Set(this.#digestsOf(before?.cell.outputs ?? []));
    if (this.#digestsOf(after.cell.outputs).some((digest) => !were.has(digest) && !this.#known.has(digest))) this.set(false);
  }

  /** What has been made here in the meantime is trusted like the rest. */
  #note(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isTrusted) return;
    const present = this.#present();
    const isSame = present.length === this.#known.size && present.every((digest) => this.#known.has(digest));
    if (isSame) return;
    this.#known.clear();
    for (const digest of present) this.#known.add(digest);
    this.#write();
  }

  #write(): void {
    const { path, kept, logger } = this.#options;
    if (path === undefined || !kept) return;
    const digests = this.#isTrusted ? [...this.#known] : undefined;
    this.#writing = this.#writing
      .then(() => kept.write(path, digests))
      .catch((error: unknown) => logger.warn('That a notebook is trusted was not noted.', { path, error: messageOf(error) }));
  }

  #present(): string[] {
    return [...new Set(this.#options.document.cells.flatMap(({ outputs }) => this.#digestsOf(outputs)))];
  }

  #digestsOf(outputs: readonly Output[]): string[] {
    return outputs.flatMap((output) => {
      const known = this.#digests.get(output);
      const digest = known === undefined ? digestOf(output) : known;
      this.#digests.set(output, digest);
      return digest ?? [];
    });
  }
}

/** A document keeps a copy of who changed it. */
function isOtherProgram({ by }: Change): boolean {
  return by.kind === otherProgram.kind && by.name === otherProgram.name;
}

/** Of what could run in an output; null if nothing could. */
function digestOf(output: Output): string | null {
  if (output.output_type !== 'display_data' && output.output_type !== 'execute_result') return null;
  const { data } = output;
  const html = textOf(data['text/html']);
  const script = textOf(data['application/javascript']);
  // Handlers need no element of their own.
  if (script === '' && !/<script|<iframe|\son\w+\s*=/i.test(html)) return null;
  return createHash('sha256')
    .update(JSON.stringify([html, script]))
    .digest('base64url');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : Array.isArray(value) ? toText(value.map(String)) : '';
}
