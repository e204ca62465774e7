import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { LocatedCell } from './cell-reader.js';
import { toAnswerValue } from './change-call.js';
import type { ChangeEntry, ChangeJournal } from './change-journal.js';
import type { JournalledPage } from './journalled-page.js';
import { assertAsLeft, toReverseCall } from './reverse.js';

export interface UndoTarget {
  page: JournalledPage;
  /** The tools of the page that are as Colab has them. */
  alike: ReadonlySet<string>;
  journal: ChangeJournal;
  cancellation: Cancellation;
}

/** How long each of the two requests of an undo may take: the notebook may be large. Milliseconds. */
const timeoutMs = 10_000;

/**
 * Takes back the last change of the journal. Rejects with `nothing_to_undo` or `changed_since`, or with what ended the
 * conversation with the page. What the page itself refuses is answered as it came.
 */
export async function undoLast(target: UndoTarget): Promise<ToolResult> {
  const { page, alike, journal, cancellation } = target;
  if (journal.isEmpty) throw new BridgeError('nothing_to_undo', 'There is no change of yours that could be undone.');
  // Whatever a page of another kind has under these names is not to be called unasked.
  if (!alike.has('get_cells')) throw new BridgeError('nothing_to_undo', 'The page that is connected is not the one that you changed.');
  const cells = await readNotebook(target);
  if (isAnotherNotebook(journal, page, cells)) {
    journal.clear();
    throw new BridgeError(
      'nothing_to_undo',
      'The page has connected anew since your changes and has none of their cells: it shows another notebook. They are forgotten.',
    );
  }
  // Another call may have ended meanwhile, so only now.
  const entry = journal.last;
  if (entry === undefined) throw new BridgeError('nothing_to_undo', 'There is no change of yours that could be undone.');
  assertAsLeft(entry, cells, entry.connection === page.connection);
  const { name, args } = toReverseCall(entry, cells);
  if (!alike.has(name))
    throw new BridgeError('nothing_to_undo', `The page that is connected has no "${name}" that could take the change back.`);
  const result = await page.client.callTool(name, args, { timeoutMs, cancellation }).catch((error: unknown) => {
    throw withAdvice(error, 'The undo was under way; its outcome is unknown. Read the cells (get_cells) before you go on.');
  });
  if (result.isError === true) return result;
  journal.remove(entry);
  return toTextResult(JSON.stringify({ undone: settle(entry, result, target) }));
}

function readNotebook({ page, cancellation }: UndoTarget): Promise<LocatedCell[]> {
  return page.cells.readAll({ timeoutMs, cancellation }).catch((error: unknown) => {
    throw withAdvice(error, 'The undo had only begun to read the cells: nothing was changed.');
  });
}

/** Reports what was undone, and brings the journal up to date. */
function settle(entry: ChangeEntry, result: ToolResult, { page, journal }: UndoTarget): JsonObject {
  const { change, cellId } = entry;
  if (change === 'move') page.cells.noteAt(cellId, entry.before.index);
  if (change !== 'delete') return { change, cellId };
  const newCellId = toAnswerValue(result)?.newCellId;
  if (typeof newCellId === 'string') {
    journal.rename(cellId, newCellId);
    page.cells.noteAt(newCellId, entry.before.index);
  }
  return { change, cellId, newCellId, note: 'The cell has a new id. Its outputs are not restored.' };
}

/** Ids are random, so a notebook without any of those that the journal knows is another one. */
function isAnotherNotebook({ entries }: ChangeJournal, page: JournalledPage, cells: readonly LocatedCell[]): boolean {
  if (entries.some(({ connection }) => connection === page.connection)) return false;
  const ids = new Set<string | undefined>(cells.map(({ id }) => id));
  return !entries.some((entry) => knownIds(entry).some((id) => id !== undefined && ids.has(id)));
}

function knownIds(entry: ChangeEntry): (string | undefined)[] {
  const isPlaced = entry.change === 'move' || entry.change === 'delete';
  return isPlaced ? [entry.cellId, entry.before.previousId, entry.before.nextId] : [entry.cellId];
}

/** Faults of the connection are reported with what they mean here; whatever the page answered passes. */
function withAdvice(error: unknown, advice: string): unknown {
  const code = codeOf(error);
  if (code === undefined || code === 'cancelled') return error;
  return new BridgeError(code, `${messageOf(error)} ${advice}`, { cause: error });
}
