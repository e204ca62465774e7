import { refusedUnread } from '@notebridge/protocol/runs/cell-rev';
import type { NewCell } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { cellId, cellIndex, expectedRev, newCellIndex } from './arguments.js';
import { adds, defineNotebookTool, type NotebookToolCall, replaces } from './tool.js';

/** The five of Colab that write. Those that replace or remove what stands in a cell take `expected_rev` beside what Colab has. */
export const addCodeCell = defineNotebookTool<{ cellIndex?: number; language?: string; code: string }>({
  name: 'add_code_cell',
  description: 'Adds a code cell to the notebook; the cells from there on move down. Does not run it. Answers {"newCellId"}.',
  properties: {
    cellIndex: newCellIndex,
    language: { type: 'string', enum: ['python', 'r', 'julia'], description: 'Default: that of the kernel, which it has to be.' },
    code: { type: 'string', description: 'The source of the cell.' },
  },
  required: ['code'],
  annotations: adds('Add a code cell'),
  answer({ session, args, by }) {
    const { language } = session.kernel.info;
    if ((args.language ?? language) !== language) {
      throw new NotebookError(
        'bad_arguments',
        `The kernel of this notebook runs ${language}, not ${args.language}. Add the cell with language "${language}".`,
      );
    }
    return { value: { newCellId: addCell({ session, by }, args.cellIndex, { type: 'code', source: args.code }) } };
  },
});

export const addTextCell = defineNotebookTool<{ cellIndex?: number; content: string }>({
  name: 'add_text_cell',
  description: 'Adds a text cell (Markdown) to the notebook; the cells from there on move down. Answers {"newCellId"}.',
  properties: { cellIndex: newCellIndex, content: { type: 'string', description: 'The text, in Markdown.' } },
  required: ['content'],
  annotations: adds('Add a text cell'),
  answer: (call) => ({ value: { newCellId: addCell(call, call.args.cellIndex, { type: 'markdown', source: call.args.content }) } }),
});

export const updateCell = defineNotebookTool<{ cellId: string; content: string; expected_rev?: number }>({
  name: 'update_cell',
  description: `Replaces the content of a cell. Does not run it; its outputs stay. ${refusedUnread} Answers {}.`,
  properties: { cellId, content: { type: 'string', description: 'The whole new content.' }, expected_rev: expectedRev },
  required: ['cellId', 'content'],
  annotations: { ...replaces('Replace the content of a cell'), idempotentHint: true },
  answer(call) {
    call.session.document.update(call.args.cellId, call.args.content, editOptions(call));
    return { value: {} };
  },
});

export const moveCell = defineNotebookTool<{ cellId: string; cellIndex: number }>({
  name: 'move_cell',
  description: 'Moves a cell to another position: "cellIndex" is where it stands afterwards. Answers {}.',
  properties: { cellId, cellIndex },
  annotations: { ...adds('Move a cell'), idempotentHint: true },
  answer({ session, args, by }) {
    session.document.move(args.cellId, args.cellIndex, { by });
    return { value: {} };
  },
});

export const deleteCell = defineNotebookTool<{ cellId: string; expected_rev?: number }>({
  name: 'delete_cell',
  description: `Deletes a cell with its outputs. undo_last_change brings it back. ${refusedUnread} Answers {}.`,
  properties: { cellId, expected_rev: expectedRev },
  required: ['cellId'],
  annotations: replaces('Delete a cell'),
  answer(call) {
    call.session.document.delete(call.args.cellId, editOptions(call));
    return { value: {} };
  },
});

export const undoLastChange = defineNotebookTool<Record<string, never>>({
  name: 'undo_last_change',
  description:
    'Takes back your last change of the notebook: the cell is exactly as it was, with source, outputs and place. Refused if a person has changed the cell since. What code did when it ran cannot be taken back. Answers {"undone": {change, cellId}}.',
  annotations: replaces('Undo the last change'),
  answer({ session, by, context }) {
    const { action, cellId } = session.undoLast({ by, ofAgent: context.agent });
    return { value: { undone: { change: action, cellId } } };
  },
});

/** Where it is asked for, or at the end. Returns its id. */
function addCell({ session, by }: Pick<NotebookToolCall<unknown>, 'session' | 'by'>, cellIndex: number | undefined, cell: NewCell): string {
  return session.document.insert(cellIndex ?? session.document.cells.length, cell, { by }).id;
}

function editOptions({ by, args }: NotebookToolCall<{ expected_rev?: number }>) {
  return { by, expectedRev: args.expected_rev };
}
