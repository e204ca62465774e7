import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import type { CellPlace, LocatedCell } from './cell-reader.js';
import type { ChangeEntry } from './change-journal.js';

/** The data of a refusal, beside its message. */
interface Difference {
  found: string;
  currentSource?: string;
}

/**
 * Throws `changed_since` unless the page still has what the agent left there: whatever a person did to that cell since is
 * theirs. `isSamePage` is false if the page has connected anew since the change, and may show another notebook.
 */
export function assertAsLeft(entry: ChangeEntry, cells: readonly LocatedCell[], isSamePage: boolean): void {
  const difference = findDifference(entry, cells, isSamePage);
  if (difference === undefined) return;
  const { found, ...data } = difference;
  throw new BridgeError(
    'changed_since',
    `The ${entry.change} of the cell "${entry.cellId}" cannot be undone: ${found}. Nothing was changed. Read the cells (get_cells) and change them yourself if the person wants that.`,
    { data: { cellId: entry.cellId, ...data } },
  );
}

/** The call that makes the cell what it was before the change. */
export function toReverseCall(entry: ChangeEntry, cells: readonly LocatedCell[]): { name: string; args: JsonObject } {
  const { cellId } = entry;
  switch (entry.change) {
    case 'insert':
      return { name: 'delete_cell', args: { cellId } };
    case 'update':
      return { name: 'update_cell', args: { cellId, content: entry.before } };
    case 'move':
      return { name: 'move_cell', args: { cellId, cellIndex: indexFor(entry.before, cells, cellId) } };
    case 'delete': {
      const { type, source, language = 'python' } = entry.before;
      const cellIndex = indexFor(entry.before, cells, cellId);
      if (type === 'code') return { name: 'add_code_cell', args: { cellIndex, language, code: source } };
      return { name: 'add_text_cell', args: { cellIndex, content: source } };
    }
  }
}

/** Behind the cell that stood above it, else before the one below, else at the old index. */
function indexFor({ index, previousId, nextId }: CellPlace, cells: readonly LocatedCell[], cellId: string): number {
  const others = cells.map(({ id }) => id).filter((id) => id !== cellId);
  const previous = previousId === undefined ? -1 : others.indexOf(previousId);
  if (previous !== -1) return previous + 1;
  const next = nextId === undefined ? -1 : others.indexOf(nextId);
  return next === -1 ? Math.min(index, others.length) : next;
}

function findDifference(entry: ChangeEntry, cells: readonly LocatedCell[], isSamePage: boolean): Difference | undefined {
  const cell = cells.find(({ id }) => id === entry.cellId);
  if (entry.change === 'delete') {
    if (cell !== undefined) return { found: 'the cell is there again', currentSource: cell.source };
    const { previousId, nextId } = entry.before;
    const isAnchored = isSamePage || cells.some(({ id }) => id === previousId || id === nextId);
    return isAnchored ? undefined : { found: 'the page has connected anew since, and has none of the cells that stood beside it' };
  }
  if (cell === undefined) return { found: 'the cell is not there any more' };
  if (entry.change === 'move') {
    const wanted = Math.min(entry.left, cells.length - 1);
    return cell.index === wanted ? undefined : { found: `the cell stands at index ${cell.index} by now, not at ${wanted}` };
  }
  if (toComparable(cell.source) === toComparable(entry.left)) return undefined;
  return { found: `the cell has been changed since; it reads ${quote(cell.source)}`, currentSource: cell.source };
}

/** An editor may keep line breaks of another kind. */
function toComparable(source: string): string {
  return source.replace(/\r\n?/g, '\n');
}
