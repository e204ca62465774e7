import { messageOf } from '@notebridge/kit/message-of';
import type { PlacedCell } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { NotebookSession } from '../session.js';
import { person, type ViewerAction } from '../viewer/protocol.js';
import type { FileStore } from './file-store.js';
import { HostError } from './host-error.js';
import type { NotebookTools } from './notebook-tools.js';

/** What a window works on. */
export interface ViewerTarget {
  readonly session: NotebookSession;
  /** Undefined for a notebook without a file. */
  readonly file: FileStore | undefined;
  /** Undefined where code has nothing to call. */
  readonly codeTools: NotebookTools | undefined;
  disconnectAgent(agentId: string): Promise<void>;
}

const by = person;
const maxRemembered = 100;

/** Carries out what the person at one window asks for. */
export class ViewerActions {
  readonly #target: ViewerTarget;
  /** What this window deleted, the last one last. */
  readonly #deleted: PlacedCell[] = [];

  constructor(target: ViewerTarget) {
    this.#target = target;
  }

  /** Answers with what the window may want to know of it. Throws what the person shall read. */
  async perform(action: ViewerAction): Promise<unknown> {
    const { session } = this.#target;
    const { document } = session;
    switch (action.do) {
      case 'insert':
        return { cellId: document.insert(action.index, { type: action.cellType, source: action.source }, { by }).id };
      case 'update':
        return document.update(action.cellId, action.source, { by, expectedRev: action.expectedRev });
      case 'move':
        return document.move(action.cellId, action.index, { by });
      case 'delete':
        return this.#delete(action.cellId);
      case 'setType':
        return document.setType(action.cellId, action.cellType, { by });
      case 'clearOutputs':
        return document.clear(action.cellId, { by });
      case 'undoDelete':
        return this.#undoDelete();
      case 'run': {
        const { status, executionCount } = await session.run(action.cellId, { by });
        return { status, executionCount };
      }
      case 'stop':
        return session.stop({ by });
      case 'interrupt':
        return void (await session.interrupt({ by }));
      case 'restart':
        return session.restart({ by });
      case 'undo':
        return void session.undo(action.entryId, { by });
      case 'setReadOnly':
        session.readOnly = action.readOnly;
        return;
      case 'setToolAccess':
        return this.#setToolAccess(action.allowed);
      case 'disconnectAgent':
        return this.#target.disconnectAgent(action.agentId);
      case 'save':
        return this.#file().save();
      case 'resolveConflict':
        return this.#file().resolve(action.keep);
    }
  }

  #delete(cellId: string): void {
    const { document } = this.#target.session;
    const placed = document.get(cellId);
    document.delete(cellId, { by });
    this.#deleted.push(placed);
    if (this.#deleted.length > maxRemembered) this.#deleted.shift();
  }

  /** Behind the cell that stood above it; the old index if that one is gone. */
  #undoDelete(): { cellId: string } {
    const { document } = this.#target.session;
    for (let last = this.#deleted.pop(); last; last = this.#deleted.pop()) {
      const { cell, index, previousId } = last;
      // Somebody else has put it back already.
      if (document.find(cell.id)) continue;
      const previous = document.cells.findIndex(({ id }) => id === previousId);
      document.restore({ cell, index: previous === -1 ? index : previous + 1 }, { by });
      return { cellId: cell.id };
    }
    throw new NotebookError('nothing_to_undo', 'This window has deleted no cell that could be put back.');
  }

  async #setToolAccess(allowed: boolean): Promise<void> {
    const { codeTools } = this.#target;
    if (!codeTools) throw new HostError('bad_request', 'There are no tools that code in this notebook could call. Reload the window.');
    try {
      await codeTools.setAllowed(allowed);
    } catch (error) {
      throw new HostError('access_unchanged', `Whether code may call tools was not changed: ${messageOf(error)}`, { cause: error });
    }
  }

  #file(): FileStore {
    const { file } = this.#target;
    if (!file) throw new HostError('no_file', 'This notebook has no file, so it cannot be saved. Start Notebridge with a file name.');
    return file;
  }
}
