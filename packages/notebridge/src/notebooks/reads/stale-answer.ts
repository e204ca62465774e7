import { type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { answerBudget } from '@notebridge/protocol/runs/answer-budget';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { tryJson } from '@notebridge/protocol/util/try-json';

/** A notebook's refusal of an edit that was meant for another source: `stale_cell`. */
export interface StaleRefusal {
  cellId: string;
  expectedRev: unknown;
  currentRev: number;
  currentType: string | undefined;
  currentSource: string;
  currentIndex: unknown;
  changedBy: unknown;
}

/** As a notebook refuses that checks revisions itself. */
export function toStaleResult(cell: { id: string; type: string; source: string; index: number }, expectedRev: unknown): ToolResult {
  const { id: cellId, type: currentType, source: currentSource, index: currentIndex } = cell;
  const message = `The cell "${cellId}" has changed since the revision that was named.`;
  const data = { cellId, expectedRev: toPlainValue(expectedRev), currentRev: revOf(cell), currentType, currentSource, currentIndex };
  return { ...toTextResult(JSON.stringify({ error: { code: 'stale_cell', message, ...data } })), isError: true };
}

/** Undefined for any other result. */
export function parseStaleResult({ isError, content }: ToolResult): StaleRefusal | undefined {
  const text = isError === true && Array.isArray(content) ? content[0]?.text : undefined;
  if (typeof text !== 'string' || !text.startsWith('{"error":{"code":"stale_cell"')) return undefined;
  const value = tryJson(text);
  const error = isJsonObject(value) ? value.error : undefined;
  if (!isJsonObject(error) || typeof error.currentRev !== 'number' || typeof error.currentSource !== 'string') return undefined;
  const { cellId, expectedRev, currentRev, currentType, currentSource, currentIndex, changedBy } = error;
  return {
    ...{ cellId: String(cellId), expectedRev, currentRev, currentSource, currentIndex, changedBy },
    currentType: typeof currentType === 'string' ? currentType : undefined,
  };
}

export interface EditOfStale {
  /** The session's knowledge of the cell: `long` is its last source, if that was long. Undefined: it does not know the cell. */
  known: { readonly long: string | undefined } | undefined;
  /** The agent itself has named the revision. */
  isNamed: boolean;
  readsRanges: boolean;
}

/**
 * The answer to an agent whose edit was refused: the whole source, or all that has changed in it since, or else how it is read. `isShown`:
 * the agent has read the source thereby.
 */
export function toStaleAnswer(
  refused: StaleRefusal,
  { known, isNamed, readsRanges }: EditOfStale,
): { result: ToolResult; isShown: boolean } {
  const { cellId, currentRev, currentSource, currentIndex, changedBy } = refused;
  const shown = toShown(currentSource, known?.long);
  const next = shown === undefined ? howToRead(refused, readsRanges) : `${toldBy(shown)} It counts as read: decide again, then call again.`;
  const error: JsonObject = {
    code: 'stale_cell',
    message: `${isNamed ? whyNotNamed(refused) : whyRefused(refused, known !== undefined)} Nothing was changed. ${next}`,
    cellId,
    ...(isNamed ? { expectedRev: refused.expectedRev } : {}),
    // A call that names it is made: not before the source is known.
    ...(shown === undefined ? { currentCharacters: currentSource.length } : { currentRev, ...shown }),
    currentIndex,
    ...(changedBy === undefined ? {} : { changedBy }),
  };
  return { result: { ...toTextResult(JSON.stringify({ error })), isError: true }, isShown: shown !== undefined };
}

type Shown = { currentSource: string } | { diff: string };

function toShown(source: string, before: string | undefined): Shown | undefined {
  if (fits(source)) return { currentSource: source };
  const diff = before === undefined ? undefined : diffSource(before, source);
  return diff !== undefined && fits(diff) ? { diff } : undefined;
}

function fits(text: string): boolean {
  return text.length <= answerBudget.textCharacters && JSON.stringify(text).length <= answerBudget.textCharacters;
}

function toldBy(shown: Shown): string {
  return 'diff' in shown ? '"diff" is all that has changed in it since.' : '"currentSource" is what it is now.';
}

function whyNotNamed({ cellId, expectedRev, changedBy }: StaleRefusal): string {
  return `The cell "${cellId}" does not have the revision ${String(expectedRev)}.${byWhom(changedBy)}`;
}

function whyRefused({ cellId, changedBy }: StaleRefusal, wasKnown: boolean): string {
  if (!wasKnown) return `You have not read the cell "${cellId}" in this session.`;
  return `The cell "${cellId}" is not as you last read or wrote it.${byWhom(changedBy)}`;
}

/** Notebooks keep who was last, and not for what: the text may be another's. */
function byWhom(changedBy: unknown): string {
  return isJsonObject(changedBy) && typeof changedBy.name === 'string' ? ` The last to change or move it was ${changedBy.name}.` : '';
}

function howToRead({ cellId, currentSource: { length }, currentIndex }: StaleRefusal, readsRanges: boolean): string {
  const how = readsRanges
    ? `get_cells with cellId ${JSON.stringify(cellId)} and sourceFrom 0, and on from next_source_from to its end`
    : `get_cells with cellIndexStart and cellIndexEnd ${String(currentIndex)}`;
  return `Its source is too long to be shown here (${length} characters). Read it by ${how}; then decide, and call again.`;
}

/** The change from one source to another as a unified diff of one hunk: everything between the lines that both begin and end with. */
function diffSource(before: string, after: string): string {
  const [from, to] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && from[head] === to[head]) head++;
  let tail = 0;
  while (tail < shorter - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const removed = from.slice(head, from.length - tail);
  const added = to.slice(head, to.length - tail);
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return [`@@ -${rangeOf(head, removed)} +${rangeOf(head, added)} @@`, ...lines].join('\n');
}

/** A range without lines is named by the line before it. */
function rangeOf(head: number, lines: readonly string[]): string {
  return `${lines.length === 0 ? head : head + 1},${lines.length}`;
}
