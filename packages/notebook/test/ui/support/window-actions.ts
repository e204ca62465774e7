import type { PlacedCell } from '../../../src/model/document.js';
import { NotebookError } from '../../../src/model/errors.js';
import type { NotebookSession } from '../../../src/session.js';
import { person, type ViewerAction } from '../../../src/viewer/protocol.js';

/** One window's requests, carried out on a session. */
export function createActions(session: NotebookSession, others: (action: ViewerAction) => unknown): (action: ViewerAction) => unknown {
  const { document } = session;
  const by = { by: person };
  const deleted: Pick<PlacedCell, 'cell' | 'index'>[] = [];
  return (action) => {
    switch (action.do) {
      case 'insert':
        return { cellId: document.insert(action.index, { type: action.cellType, source: action.source, ...action.more }, by).id };
      case 'update':
        return document.update(action.cellId, action.source, { ...by, expectedRev: action.expectedRev });
      case 'move':
        return document.move(action.cellId, action.index, by);
      case 'delete':
        deleted.push(document.get(action.cellId));
        return document.delete(action.cellId, by);
      case 'undoDelete': {
        const last = deleted.pop();
        if (!last) throw new NotebookError('nothing_to_undo', 'This window has deleted no cell that could be put back.');
        document.restore(last, by);
        return { cellId: last.cell.id };
      }
      case 'setType':
        return document.setType(action.cellId, action.cellType, by);
      case 'clearOutputs':
        return document.clear(action.cellId, by);
      case 'run':
        return session.run(action.cellId, by);
      case 'stop':
        return session.stop(by);
      case 'interrupt':
        return session.interrupt(by);
      case 'restart':
        return session.restart(by);
      case 'undo':
        return void session.undo(action.entryId, by);
      case 'setReadOnly':
        session.readOnly = action.readOnly;
        return undefined;
      default:
        return others(action);
    }
  };
}
