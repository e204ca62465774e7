import { defineNotebookTool, replaces } from './tool.js';

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
