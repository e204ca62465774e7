import { revOf } from '@notebridge/protocol/runs/cell-rev';

/** The state of a cell as one session knows it. */
interface KnownCell extends LongText {
  /** The last call that wrote it: what an earlier one shows is older, whenever that is answered. */
  writtenAt: number;
  /** The revision of the source that the session last read whole, or wrote. */
  rev: number;
  /** Undefined of a cell that it wrote without having read it. */
  type: string | undefined;
  /** Other revisions of what it wrote: of another type, or with the line breaks of an editor. */
  others: readonly number[];
  /** Before its own changes, the last one last: what an undo brings back. */
  before: readonly number[];
}

/** A source as an answer shows it. */
export interface ShownSource {
  cellId: string;
  type: string;
  source: string;
  /** As the notebook says. Default: that of what is shown. */
  rev?: number | undefined;
  /** The range of a source that is shown in part: where the part begins, and how long the whole is, in characters. Undefined: all of it. */
  part?: { from: number; characters: number } | undefined;
}

type ShownPart = ShownSource & { rev: number; part: { from: number; characters: number } };

interface LongText {
  /** Of a known cell: kept where it is too long to be told as a whole again, since then what has changed is told. */
  long: string | undefined;
}

/** A source that is being read in parts; `long` is what was read of it from its beginning on, without a gap. */
interface PartsRead extends LongText {
  readonly rev: number;
}

const maxSessions = 1000;
const maxCells = 20_000;
/** Sources that one session reads in parts at the same time. */
const maxParts = 100;
const maxUndone = 100;
/** From here on a source is not told as a whole. Characters. */
const longFrom = 8000;
/** Limit of the long sources kept for all sessions together, in characters. */
const maxLong = 20_000_000;

/** The sources that the agents of one notebook have read and written, kept for each session by itself. */
export class KnownSources {
  readonly #sessions = new Map<string, SessionSources>();
  readonly #longs = new LongTexts();

  of(sessionId: string): SessionSources {
    const known = this.#sessions.get(sessionId) ?? new SessionSources(this.#longs);
    // The one that was not heard of for longest goes first.
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, known);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxSessions && oldest !== undefined) {
      this.#sessions.get(oldest)?.forgetAll();
      this.#sessions.delete(oldest);
    }
    return known;
  }
}

/** The long texts of all sessions: of too many, the oldest are forgotten. */
class LongTexts {
  #characters = 0;
  readonly #texts = new Set<LongText>();

  keep(kept: LongText, text: string): void {
    kept.long = text;
    this.#texts.add(kept);
    this.#characters += text.length;
    for (const each of this.#texts) {
      if (this.#characters <= maxLong || each === kept) break;
      this.forget(each);
    }
  }

  forget(kept: LongText | undefined): void {
    if (kept === undefined) return;
    if (this.#texts.delete(kept)) this.#characters -= kept.long?.length ?? 0;
    kept.long = undefined;
  }
}

/** The cells that one session knows, each with what it last read or wrote of it. */
export class SessionSources {
  readonly #longs: LongTexts;
  readonly #cells = new Map<string, KnownCell>();
  readonly #parts = new Map<string, PartsRead>();
  #calls = 0;

  constructor(longs: LongTexts) {
    this.#longs = longs;
  }

  /** Numbers a call, which the notebook works on in this order. */
  begin(): number {
    return ++this.#calls;
  }

  find(cellId: string): Readonly<KnownCell> | undefined {
    return this.#cells.get(cellId);
  }

  /**
   * Gives whether the session has the whole source of that revision, by this answer or by what it read and wrote before. A source that was
   * cut on its way is not read: it is not the one that the revision is of.
   */
  noteShown({ cellId, type, source, rev = revOf({ type, source }), part }: ShownSource, at: number): boolean {
    const isWhole = revOf({ type, source }) === rev;
    if (isWhole) this.noteRead(cellId, { type, source, rev, at });
    else if (part !== undefined) this.#notePart({ cellId, type, source, rev, part }, at);
    const known = this.find(cellId);
    return isWhole || known?.rev === rev || known?.others.includes(rev) === true;
  }

  noteRead(cellId: string, { type, source, rev, at }: { type: string | undefined; source: string; rev: number; at: number }): void {
    const known = this.find(cellId);
    const { writtenAt = 0, before = [] } = known ?? {};
    if (writtenAt <= at) this.#set(cellId, { writtenAt, rev, type, others: [], before }, source);
  }

  /** A call that writes. `over`: the revision that it writes over; undefined for a new cell. To be ended by whether it was done. */
  noteWritten(
    cellId: string,
    { type, source, over, at }: { type?: string; source: string; over: number | undefined; at: number },
  ): (isDone: boolean) => void {
    const last = this.find(cellId);
    const long = last?.long;
    const known = type ?? last?.type;
    const before = over === undefined ? [] : [...(last?.before ?? []), over].slice(-maxUndone);
    const written = { ...revsOf(known, source), writtenAt: at, type: known, before };
    const noted = this.#set(cellId, written, source);
    return (isDone) => {
      const now = this.#cells.get(cellId);
      // A read may have been answered first. A later write, of this session too, stays.
      if (isDone && now !== noted && (now?.writtenAt ?? 0) <= written.writtenAt) this.#set(cellId, written, source);
      if (isDone || now !== noted) return;
      this.#drop(cellId);
      if (last !== undefined) this.#set(cellId, last, long ?? '');
    };
  }

  /** A change of its own was taken back. `newCellId`: under which the cell came back, if not under the old one. */
  noteUndone({ change, cellId, newCellId }: { change: unknown; cellId: string; newCellId: unknown }, at: number): void {
    const known = this.find(cellId);
    if (known === undefined || known.writtenAt > at) return;
    if (typeof newCellId === 'string') this.#set(newCellId, { ...known, writtenAt: at }, known.long ?? '');
    if (change !== 'update') return;
    const rev = known.before.at(-1);
    if (rev === undefined) this.#drop(cellId);
    else this.#set(cellId, { writtenAt: at, rev, type: known.type, others: [], before: known.before.slice(0, -1) }, '');
  }

  forgetAll(): void {
    for (const cellId of [...this.#cells.keys()]) this.#drop(cellId);
    for (const cellId of [...this.#parts.keys()]) this.#dropParts(cellId);
  }

  #notePart({ cellId, type, source, rev, part: { from, characters } }: ShownPart, at: number): void {
    const last = this.#parts.get(cellId);
    const known = (last?.rev === rev ? last.long : undefined) ?? '';
    if (from > known.length) return;
    const text = known.slice(0, from) + source + known.slice(from + source.length);
    this.#dropParts(cellId);
    if (text.length === characters) {
      if (revOf({ type, source: text }) === rev) this.noteRead(cellId, { type, source: text, rev, at });
      return;
    }
    const parts: PartsRead = { rev, long: undefined };
    this.#parts.set(cellId, parts);
    this.#longs.keep(parts, text);
    const [oldest] = this.#parts.keys();
    if (this.#parts.size > maxParts && oldest !== undefined) this.#dropParts(oldest);
  }

  #dropParts(cellId: string): void {
    this.#longs.forget(this.#parts.get(cellId));
    this.#parts.delete(cellId);
  }

  #set(cellId: string, cell: Omit<KnownCell, 'long'>, source: string): KnownCell {
    this.#drop(cellId);
    const known: KnownCell = { ...cell, long: undefined };
    this.#cells.set(cellId, known);
    const [oldest] = this.#cells.keys();
    if (this.#cells.size > maxCells && oldest !== undefined) this.#drop(oldest);
    if (source.length >= longFrom) this.#longs.keep(known, source);
    return known;
  }

  #drop(cellId: string): void {
    this.#longs.forget(this.#cells.get(cellId));
    this.#cells.delete(cellId);
  }
}

const cellTypes = ['code', 'markdown', 'raw'];

/**
 * The revisions that a cell may have once a text is written to it as it was sent: notebooks hold whole characters, and an editor may keep
 * line breaks of another kind.
 */
function revsOf(type: string | undefined, sent: string): Pick<KnownCell, 'rev' | 'others'> {
  const source = sent.replace(/\p{Surrogate}/gu, '\ufffd');
  const texts = new Set([source, source.replace(/\r\n?/g, '\n')]);
  const types = type === undefined ? cellTypes : [type];
  const [rev = 0, ...others] = [...texts].flatMap((text) => types.map((each) => revOf({ type: each, source: text })));
  return { rev, others };
}
