import { isDeepStrictEqual } from 'node:util';
import { errnoOf, explain } from '@notebridge/protocol/util/errno';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { DocumentLimits, NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { type NotebookLimits, type ReadNotebook, readNotebook } from '../model/nbformat.js';
import { HostError } from '../session/host-error.js';
import type { FileState } from '../viewer/protocol.js';
import { keepOldCopy, rescue } from './copies.js';
import { type DiskFile, type Found, type FoundFile, watchDisk } from './disk-file.js';
import type { NotebookLock } from './file-lock.js';
import { changedText, fileNote, invalidText, removedText } from './file-texts.js';
import { keepLackingIds } from './kept-files.js';
import type { Preference } from './merge.js';
import { type OpenedFile, type OpenNotebookOptions, openNotebook } from './open-notebook.js';
import { SaveTimer, type SaveTiming } from './save-timer.js';
import { SyncedNotebook } from './synced-notebook.js';

export interface FileStoreOptions extends OpenNotebookOptions {
  limits?: NotebookLimits & DocumentLimits;
  timing?: Partial<SaveTiming>;
}

/** Another program may replace a file by removing and making it, or write it piece by piece. */
const settleMs = 500;
const settleStepMs = 50;
const tries = 5;

/** What was found on disk, read as a notebook. */
type Met =
  | Exclude<Found, FoundFile>
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'changed'; readonly found: FoundFile; readonly file: ReadNotebook };

type Conflict = Extract<FileState, { kind: 'conflict' }>;

/**
 * A notebook's file: the document is saved soon after each change, and follows what other programs write. Nothing of theirs is
 * ever overwritten unseen.
 */
export class FileStore {
  readonly path: string;
  readonly #disk: DiskFile;
  readonly #lock: NotebookLock | undefined;
  readonly #options: FileStoreOptions;
  readonly #synced: SyncedNotebook;
  readonly #timer: SaveTimer;
  readonly #listeners = new Listeners<FileState>();
  readonly #stopListening: readonly (() => void)[];
  /** One thing at a time happens to the file. */
  #queue: Promise<unknown> = Promise.resolve();
  #conflict: Conflict | undefined;
  #failure: string | undefined;
  #isSaving = false;
  /** The person has agreed that the file is gone. */
  #isDetached = false;
  #isCheckQueued = false;
  #closing: Promise<void> | undefined;
  #lastState: FileState = { kind: 'saved' };

  private constructor({ disk, lock, file }: OpenedFile, options: FileStoreOptions) {
    this.path = disk.path;
    this.#disk = disk;
    this.#lock = lock;
    this.#options = options;
    this.#synced = new SyncedNotebook(file, options.limits);
    if (this.note !== undefined) options.logger.warn(this.note, { path: disk.path });
    this.#timer = new SaveTimer(() => this.#saveByItself(), options.timing);
    this.#stopListening = [watchDisk(disk.path, () => this.#checkSoon(), options.logger), this.document.onChange(() => this.#onChange())];
  }

  /**
   * Opens a notebook, or makes an empty one. Rejects with `NotebookError` for what is none, with `file_in_use`, or with
   * `file_unreadable`; the file is not touched then.
   */
  static async open(options: FileStoreOptions): Promise<FileStore> {
    return new FileStore(await openNotebook(options), options);
  }

  get document(): NotebookDocument {
    return this.#synced.document;
  }

  get state(): FileState {
    if (this.#conflict) return this.#conflict;
    if (this.#isDetached) return { kind: 'none' };
    if (this.#failure !== undefined) return { kind: 'failed', detail: this.#failure };
    return { kind: this.#isSaving ? 'saving' : this.#synced.isDirty ? 'unsaved' : 'saved' };
  }

  /** What people may want to know of the file as it is: that it was converted, or what nbformat finds wrong with it. */
  get note(): string | undefined {
    return fileNote(this.path, this.#synced.file);
  }

  onState(listener: (state: FileState) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Saves at once. Rejects with `conflict` or `not_saved`. */
  save(): Promise<void> {
    return this.#inTurn(() => this.#save({ always: this.#isDetached }));
  }

  /** Looks at once whether another program has changed the file. */
  check(): Promise<void> {
    return this.#inTurn(() => this.#check());
  }

  /** The person's decision in a conflict. What only one side has changed is kept from both. Rejects as `save` does. */
  resolve(keep: Preference): Promise<void> {
    return this.#inTurn(() => this.#resolve(keep));
  }

  /**
   * Saves, and releases the file. What cannot be saved is put into another file, and this rejects with `not_saved`, naming it.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #onChange(): void {
    if (this.#synced.isFollowing || this.#closing !== undefined) return;
    if (!this.#conflict && !this.#isDetached) this.#timer.changed();
    this.#emit();
  }

  #saveByItself(): void {
    this.#inTurn(() => this.#save()).catch((error: unknown) =>
      this.#options.logger.warn('The notebook was not saved.', { error: messageOf(error) }),
    );
  }

  #checkSoon(): void {
    if (this.#isCheckQueued || this.#closing !== undefined) return;
    this.#isCheckQueued = true;
    this.check().catch((error: unknown) => this.#options.logger.warn('The file could not be looked at.', { error: messageOf(error) }));
  }

  /** Runs a task after those before it, and turns errors of the system into a state that people see. */
  #inTurn(task: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(async () => {
      try {
        await task();
      } catch (error) {
        throw this.#fail(error);
      } finally {
        this.#isSaving = false;
        this.#emit();
      }
    });
    this.#queue = result.catch(() => {});
    return result;
  }

  #fail(error: unknown): unknown {
    if (error instanceof HostError && error.code !== 'not_saved') return error;
    const detail =
      error instanceof HostError ? error.message : `Cannot save "${this.path}": ${explain(error)} It is tried again by itself.`;
    this.#failure = detail;
    if (this.#closing === undefined) this.#timer.failed();
    return new HostError('not_saved', detail, { data: { path: this.path, reason: errnoOf(error) ?? 'unknown' }, cause: error });
  }

  async #check(): Promise<void> {
    this.#isCheckQueued = false;
    if (this.#isDetached) return;
    await this.#meet();
    if (this.#conflict) return;
    if (this.#synced.isDirty) this.#timer.changed();
    else this.#failure = undefined;
  }

  async #save({ always = false } = {}): Promise<void> {
    let isDue = always;
    for (let attempt = 0; attempt < tries; attempt++) {
      await this.#meet();
      if (this.#conflict) throw new HostError('conflict', `Not saved: ${this.#conflict.detail}`, { data: { path: this.path } });
      isDue ||= this.#synced.isDirty;
      if (!isDue) return this.#calm();
      if (await this.#write()) return this.#calm();
    }
    throw new HostError('not_saved', `Cannot save "${this.path}": another program keeps changing it. It is tried again by itself.`);
  }

  async #write(): Promise<boolean> {
    const startedAt = performance.now();
    const notebook = this.#synced.toNotebook();
    const { version } = this.document;
    this.#isSaving = true;
    this.#emit();
    const { form, old } = this.#synced.file;
    if (old) await keepOldCopy(this.path, old.nbformat, old.bytes);
    const isWritten = await this.#disk.write(form.print(notebook));
    if (isWritten) {
      this.#synced.markSaved(notebook, version);
      const { cellIds, logger } = this.#options;
      await keepLackingIds(cellIds, { path: this.path, form, notebook, logger });
    }
    this.#timer.saved({ tookMs: performance.now() - startedAt, isDirty: this.#synced.isDirty && this.#closing === undefined });
    return isWritten;
  }

  #calm(): void {
    this.#failure = undefined;
    this.#isDetached = false;
  }

  /** Looks at the file, and takes in what another program has done to it, or declares a conflict. */
  async #meet(): Promise<void> {
    const met = await this.#look();
    if (met.kind === 'same') this.#conflict = undefined;
    if (met.kind === 'removed') this.#conflict = { kind: 'conflict', found: 'removed', detail: removedText(this.path) };
    if (met.kind === 'invalid') this.#conflict = { kind: 'conflict', found: 'invalid', detail: invalidText(this.path, met.detail) };
    if (met.kind === 'changed') this.#takeIn(met);
  }

  #takeIn({ found, file }: Extract<Met, { kind: 'changed' }>, prefer?: Preference): void {
    const overlaps = this.#synced.takeIn(file, prefer);
    this.#conflict = overlaps.length > 0 ? { kind: 'conflict', found: 'changed', detail: changedText(this.path, overlaps) } : undefined;
    if (!this.#conflict) this.#disk.accept(found);
  }

  async #resolve(keep: Preference): Promise<void> {
    if (!this.#conflict) throw new HostError('no_conflict', 'There is nothing to decide: the file and the notebook agree, or will soon.');
    const met = await this.#look();
    if (met.kind === 'invalid' && keep === 'theirs') {
      const message = `The file cannot be loaded: ${met.detail} Fix it, or keep what is here.`;
      throw new HostError('conflict', message, { data: { path: this.path } });
    }
    this.#conflict = undefined;
    if (met.kind === 'changed') this.#takeIn(met, keep);
    if (met.kind === 'removed' || met.kind === 'invalid') await this.#disk.acceptAnything();
    this.#isDetached = met.kind === 'removed' && keep === 'theirs';
    if (!this.#isDetached) await this.#save({ always: met.kind === 'removed' || met.kind === 'invalid' });
  }

  /** What is on disk, once it stays as it is. */
  async #look(): Promise<Met> {
    const known = this.#conflict?.found;
    for (let waitedMs = 0; ; waitedMs += settleStepMs) {
      const met = await this.#lookOnce();
      const isOdd = met.kind === 'removed' || met.kind === 'invalid';
      if (!isOdd || met.kind === known || waitedMs >= settleMs) return met;
      await new Promise((resolve) => setTimeout(resolve, settleStepMs));
    }
  }

  async #lookOnce(): Promise<Met> {
    try {
      const found = await this.#disk.look();
      if (found.kind !== 'changed') return found;
      return {
        kind: 'changed',
        found,
        file: readNotebook(found.bytes, { limits: this.#options.limits, known: this.#synced.known }),
      };
    } catch (error) {
      if (error instanceof NotebookError) return { kind: 'invalid', detail: error.message };
      throw error;
    }
  }

  async #close(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    this.#timer.close();
    try {
      if (!this.#isDetached) await this.#inTurn(() => this.#save());
    } catch (error) {
      await this.#rescue(error);
    } finally {
      await this.#lock?.release();
    }
  }

  /** The person's work must not be lost because its place is taken or gone. */
  async #rescue(error: unknown): Promise<void> {
    if (!this.#synced.isDirty) return;
    const rescuedTo = await rescue(this.path, this.#synced.file.form.print(this.#synced.toNotebook()));
    const where = rescuedTo === undefined ? 'and it could not be put elsewhere' : `what was not saved is in "${rescuedTo}"`;
    throw new HostError('not_saved', `The notebook was closed, ${where}. ${messageOf(error)}`, {
      data: { path: this.path, ...(rescuedTo === undefined ? {} : { rescuedTo }) },
      cause: error,
    });
  }

  #emit(): void {
    const { state } = this;
    if (isDeepStrictEqual(state, this.#lastState)) return;
    this.#lastState = state;
    this.#listeners.emit(state);
  }
}
