import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { LocatedCell } from './cell-reader.js';
import { type ChangeCall, toAnswerValue } from './change-call.js';
import type { ChangeEntry } from './change-journal.js';

/** A change that the page has answered. */
export interface AnsweredChange {
  call: ChangeCall;
  /** The cell before; undefined if it was not there. */
  before: LocatedCell | undefined;
  result: ToolResult;
  connection: number;
  /** The language in which the agent added a cell, if it is known. */
  languageOf: (cellId: string) => string | undefined;
}

/** What Colab's cells can be added back as: there are no others. */
const restorableTypes = ['code', 'markdown', 'text'];

/** What the journal keeps of a change; undefined for one that failed, or that could not be taken back. */
export function toEntry({ call, before, result, connection, languageOf }: AnsweredChange): ChangeEntry | undefined {
  if (result.isError === true) return undefined;
  if (!('cellId' in call)) {
    const cellId = toAnswerValue(result)?.newCellId;
    if (typeof cellId !== 'string') return undefined;
    return { change: 'insert', cellId, connection, left: call.source, language: call.language };
  }
  if (before === undefined) return undefined;
  const what = { cellId: call.cellId, connection };
  switch (call.tool) {
    case 'update_cell':
      return { ...what, change: 'update', before: before.source, left: call.source };
    case 'move_cell': {
      const { index, previousId, nextId } = before;
      return { ...what, change: 'move', before: { index, previousId, nextId }, left: call.cellIndex };
    }
    case 'delete_cell': {
      if (!restorableTypes.includes(before.type)) return undefined;
      return { ...what, change: 'delete', before: { ...before, language: before.language ?? languageOf(before.id) } };
    }
  }
}
