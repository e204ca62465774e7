import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Actor, Cell } from '../../model/cell.js';
import type { NotebookDocument } from '../../model/document.js';
import { RequestFailed } from '../link/connection.js';
import { nameOf } from '../names.js';
import { mergeLines } from './merge-lines.js';

/** What a person typed in a cell, and the host does not have yet. */
interface Draft {
  /** The source on which the text is based. */
  base: string;
  text: string;
  /** On its way to the host: the change that carries it back is our own. Kept when the connection is lost in between. */
  sent: string | undefined;
  flight: Promise<void> | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  clash: Clash | undefined;
}

/** A change of somebody else in the lines in which the person types. Nothing is sent until the person has decided. */
export interface Clash {
  readonly theirs: string;
  readonly by: Actor;
}

/** Text that a person typed in a cell that is gone: it stays until it has another place, or the person lets it go. */
export interface Orphan extends Pick<Draft, 'base' | 'text'> {
  readonly cellId: string;
  /** Undefined: it is not known who removed the cell. */
  readonly by: Actor | undefined;
}

export type DraftEvent =
  /** The text to show is another one now: somebody's change was merged into it. */
  | { readonly type: 'text'; readonly cellId: string; readonly text: string }
  | { readonly type: 'clash'; readonly cellId: string; readonly clash: Clash | undefined }
  | { readonly type: 'refused'; readonly cellId: string; readonly message: string }
  /** There is text, or other text, that the host does not have, or no more of it. */
  | { readonly type: 'pending' };

export interface DraftsOptions {
  document: () => NotebookDocument;
  /** Rejects with `RequestFailed`. */
  update: (cellId: string, source: string, expectedRev: number) => Promise<unknown>;
}

/** A draft as it survives a reload. `inFile`: what the file has, if that is not `base`. */
export type SavedDraft = Pick<Draft, 'base' | 'text'> & { readonly cellId: string; readonly inFile?: string | undefined };

const delayMs = 250;
const somebody: Actor = { kind: 'person', name: 'Somebody' };

/**
 * Keeps the texts of person and others apart until they are one again. A cell without a draft shows the document's source. What the host has but
 * the file does not is kept too: a host that is killed takes it along.
 */
export class Drafts {
  readonly #options: DraftsOptions;
  readonly #drafts = new Map<string, Draft>();
  #orphans: readonly Orphan[] = [];
  /** Texts of this person that the host has and the file does not, each with the one that the file has. */
  readonly #unsaved = new Map<string, { inFile: string; text: string }>();
  readonly #listeners = new Listeners<DraftEvent>();

  constructor(options: DraftsOptions) {
    this.#options = options;
  }

  on(listener: (event: DraftEvent) => void): void {
    this.#listeners.add(listener);
  }

  get isEmpty(): boolean {
    return this.#drafts.size === 0 && this.#orphans.length === 0;
  }

  get orphans(): readonly Orphan[] {
    return this.#orphans;
  }

  get hasClash(): boolean {
    return [...this.#drafts.values()].some(({ clash }) => clash !== undefined);
  }

  textOf(cell: Cell): string {
    return this.#drafts.get(cell.id)?.text ?? cell.source;
  }

  clashOf(cellId: string): Clash | undefined {
    return this.#drafts.get(cellId)?.clash;
  }

  /** The person typed. */
  edited(cellId: string, text: string): void {
    const cell = this.#options.document().find(cellId);
    if (!cell) return;
    const draft = this.#drafts.get(cellId) ?? newDraft(cell.source);
    draft.text = text;
    this.#keep(cellId, draft);
    this.#schedule(cellId, draft);
  }

  /** The text is with the host when this resolves. Rejects when the host refuses it, or is not there. */
  async flush(cellId: string): Promise<void> {
    if (this.#drafts.get(cellId)?.clash) this.resolve(cellId, 'mine');
    for (let draft = this.#drafts.get(cellId); draft; draft = this.#drafts.get(cellId)) {
      if (draft.clash)
        throw new RequestFailed('clash', `${nameOf(draft.clash.by)} changed the cell at the same time: choose a version first.`);
      await this.#send(cellId, draft);
    }
  }

  /** Without waiting for the pause in the typing. */
  sendNow(): void {
    for (const [cellId, draft] of this.#drafts) void this.#send(cellId, draft).catch(() => {});
  }

  async flushAll(): Promise<void> {
    await Promise.all([...this.#drafts.keys()].map((cellId) => this.flush(cellId)));
  }

  /** A cell's content has changed, by anyone. Call it with every change, in order. */
  changed(before: Cell | undefined, after: Cell | undefined, by: Actor | undefined): void {
    const cellId = (after ?? before)?.id;
    if (cellId === undefined) return;
    if (!before) this.#reclaim(cellId);
    if (!after) this.#unsaved.delete(cellId);
    const draft = this.#drafts.get(cellId);
    if (!draft) return;
    if (!after) return this.#orphan(cellId, draft, by);
    if (draft.clash ? after.source === draft.clash.theirs : after.source === draft.base) return;
    if (after.source === draft.sent || after.source === draft.text) this.#settle(cellId, draft, after.source);
    else this.#merge(cellId, draft, after.source, by ?? somebody);
  }

  /** After a new hello: the document is another object, and anything may have happened in between. `isSameHost`: it is the host of before. */
  rebase(isSameHost: boolean): void {
    if (!isSameHost) this.#bringBackUnsaved();
    for (const cellId of new Set([...this.#drafts.keys(), ...this.#orphans.map((orphan) => orphan.cellId)])) {
      const cell = this.#options.document().find(cellId);
      if (cell) this.changed(undefined, cell, cell.changedBy);
      const draft = this.#drafts.get(cellId);
      if (!cell && draft) this.#orphan(cellId, draft, undefined);
      else if (draft) this.#schedule(cellId, draft);
    }
  }

  /** The file has all that the host has. */
  saved(): void {
    this.#unsaved.clear();
  }

  resolve(cellId: string, keep: 'mine' | 'theirs'): void {
    const draft = this.#drafts.get(cellId);
    if (!draft?.clash) return;
    const { theirs } = draft.clash;
    draft.base = theirs;
    this.#setClash(cellId, draft, undefined);
    if (keep === 'theirs') this.#show(cellId, draft, theirs);
    this.#schedule(cellId, draft);
  }

  save(): SavedDraft[] {
    const unsaved = [...this.#unsaved].map(([cellId, { inFile, text }]) => ({ cellId, base: text, text, inFile }));
    const drafts = [...this.#drafts].map(([cellId, { base, text }]) => ({ cellId, base, text, inFile: this.#unsaved.get(cellId)?.inFile }));
    const orphans = this.#orphans.map(({ cellId, base, text }) => ({ cellId, base, text }));
    return [...unsaved.filter(({ cellId }) => !this.#drafts.has(cellId)), ...drafts, ...orphans];
  }

  restore(saved: readonly SavedDraft[], isSameHost: boolean): void {
    for (const { cellId, base, text, inFile } of saved) {
      if (inFile !== undefined) this.#unsaved.set(cellId, { inFile, text: base });
      const other = this.#drafts.get(cellId);
      // Two windows left one each, for one cell.
      if (other && other.text !== text) this.#orphans = [...this.#orphans, { cellId, base, text, by: undefined }];
      else if (text !== base) this.#keep(cellId, newDraft(base, text));
    }
    this.rebase(isSameHost);
  }

  /** Typed when the cell was gone already: it goes on with the text that is kept of it, or is kept itself. */
  typeOn(cellId: string, typed: string): void {
    const kept = this.#orphans.find((each) => each.cellId === cellId) ?? { cellId, base: '', text: '', by: undefined };
    this.#orphans = [...this.#orphans.filter((each) => each !== kept), { ...kept, text: kept.text + typed }];
    this.#listeners.emit({ type: 'pending' });
  }

  /** They have another place now, or the person does not want them. */
  drop(orphans: readonly Orphan[]): void {
    this.#orphans = this.#orphans.filter((each) => !orphans.includes(each));
    this.#listeners.emit({ type: 'pending' });
  }

  /** The host that had them was killed before it saved them: to the next one they are as if just typed. */
  #bringBackUnsaved(): void {
    const unsaved = [...this.#unsaved];
    this.#unsaved.clear();
    for (const [cellId, { inFile, text }] of unsaved) {
      const draft = this.#drafts.get(cellId);
      if (draft) draft.base = inFile;
      else this.#keep(cellId, newDraft(inFile, text));
    }
  }

  #keep(cellId: string, draft: Draft): void {
    this.#drafts.set(cellId, draft);
    this.#listeners.emit({ type: 'pending' });
  }

  #schedule(cellId: string, draft: Draft): void {
    clearTimeout(draft.timer);
    draft.timer = setTimeout(() => void this.#send(cellId, draft).catch(() => {}), delayMs);
  }

  /** One update at a time: the next one is based on what this one makes. */
  async #send(cellId: string, draft: Draft): Promise<void> {
    clearTimeout(draft.timer);
    if (draft.flight !== undefined) return draft.flight;
    if (draft.clash) return;
    if (draft.text === draft.base) return this.#forget(cellId, draft);
    draft.flight = this.#carry(cellId, draft, draft.text).finally(() => {
      draft.flight = undefined;
    });
    return draft.flight;
  }

  async #carry(cellId: string, draft: Draft, text: string): Promise<void> {
    draft.sent = text;
    try {
      const { type = 'code' } = this.#options.document().find(cellId) ?? {};
      await this.#options.update(cellId, text, revOf({ type, source: draft.base }));
      // Where nothing had to change, no change came to say so.
      if (draft.sent === text) this.#settle(cellId, draft, text);
    } catch (error) {
      const code = error instanceof RequestFailed ? error.code : 'internal';
      // The change that made it stale has come before this answer, and is merged: try again with what came of it.
      if (code === 'connection_lost') throw error;
      draft.sent = undefined;
      if (code === 'stale_cell') return this.#schedule(cellId, draft);
      this.#listeners.emit({ type: 'refused', cellId, message: (error as Error).message });
      throw error;
    }
  }

  /** The host has this text of ours. */
  #settle(cellId: string, draft: Draft, text: string): void {
    this.#unsaved.set(cellId, { inFile: this.#unsaved.get(cellId)?.inFile ?? draft.base, text });
    draft.base = text;
    draft.sent = undefined;
    this.#setClash(cellId, draft, undefined);
    if (draft.text === text) this.#forget(cellId, draft);
    else this.#schedule(cellId, draft);
  }

  #merge(cellId: string, draft: Draft, theirs: string, by: Actor): void {
    const merged = mergeLines(draft.base, draft.text, theirs);
    if (merged === undefined) return this.#setClash(cellId, draft, { theirs, by });
    this.#setClash(cellId, draft, undefined);
    draft.base = theirs;
    this.#show(cellId, draft, merged);
    this.#schedule(cellId, draft);
  }

  #setClash(cellId: string, draft: Draft, clash: Clash | undefined): void {
    if (clash === draft.clash) return;
    draft.clash = clash;
    this.#listeners.emit({ type: 'clash', cellId, clash });
  }

  #show(cellId: string, draft: Draft, text: string): void {
    draft.text = text;
    this.#listeners.emit({ type: 'text', cellId, text });
  }

  #orphan(cellId: string, draft: Draft, by: Actor | undefined): void {
    const { base, text } = draft;
    if (text !== base) this.#orphans = [...this.#orphans, { cellId, base, text, by }];
    this.#forget(cellId, draft);
    this.#listeners.emit({ type: 'pending' });
  }

  /** The cell is back, as by an undo: its text is typed there again. */
  #reclaim(cellId: string): void {
    const orphan = this.#orphans.find((each) => each.cellId === cellId);
    if (!orphan || this.#drafts.has(cellId)) return;
    const draft = newDraft(orphan.base, orphan.text);
    this.#drafts.set(cellId, draft);
    this.drop([orphan]);
    this.#show(cellId, draft, draft.text);
    this.#schedule(cellId, draft);
  }

  #forget(cellId: string, draft: Draft): void {
    clearTimeout(draft.timer);
    if (this.#drafts.get(cellId) !== draft) return;
    this.#drafts.delete(cellId);
    if (this.isEmpty) this.#listeners.emit({ type: 'pending' });
  }
}

function newDraft(base: string, text = base): Draft {
  return { base, text, sent: undefined, flight: undefined, timer: undefined, clash: undefined };
}
