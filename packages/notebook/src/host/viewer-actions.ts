import { messageOf } from '@notebridge/kit/message-of';
import type { NotebookKernels } from '../kernels/notebook-kernels.js';
import { type PlacedCell, placeAmong } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { NotebookSession } from '../session.js';
import { person, type ViewerAction } from '../viewer/protocol.js';
import type { NotebookTools } from './agent-tools.js';
import type { FileStore } from './file-store.js';
import { HostError } from './host-error.js';

/** What a window works on. */
export interface ViewerTarget {
  readonly session: NotebookSession;
  /** Undefined for a notebook without a file. */
  readonly file: FileStore | undefined;
  /** Undefined where code has nothing to call. */
  readonly codeTools: NotebookTools | undefined;
  /** Undefined where the kernel cannot be chosen. */
  readonly kernels: NotebookKernels | undefined;
  disconnectAgent(agentId: string): Promise<void>;
}

const by = person;
const maxRemembered = 100;

/** Returns what the window needs to know of the result. Throws an error whose message is for the person. */
export type PerformAction = (action: ViewerAction) => Promise<unknown>;

type Performers = { readonly [Do in ViewerAction['do']]: (action: Extract<ViewerAction, { do: Do }>) => unknown };

/** Carries out what the person at one window asks for. */
export function createActions({ session, file, codeTools, kernels, disconnectAgent }: ViewerTarget): PerformAction {
  const { document } = session;
  /** What this window deleted, the last one last. */
  const deleted: PlacedCell[] = [];

  const performers: Performers = {
    insert: ({ index, cellType, source }) => ({ cellId: document.insert(index, { type: cellType, source }, { by }).id }),
    update: ({ cellId, source, expectedRev }) => document.update(cellId, source, { by, expectedRev }),
    move: ({ cellId, index }) => document.move(cellId, index, { by }),
    setType: ({ cellId, cellType }) => document.setType(cellId, cellType, { by }),
    clearOutputs: ({ cellId }) => document.clear(cellId, { by }),
    delete({ cellId }) {
      const placed = document.get(cellId);
      document.delete(cellId, { by });
      deleted.push(placed);
      if (deleted.length > maxRemembered) deleted.shift();
    },
    undoDelete() {
      for (let last = deleted.pop(); last; last = deleted.pop()) {
        const { cell } = last;
        // Somebody else has put it back already.
        if (document.find(cell.id)) continue;
        document.restore({ cell, index: placeAmong(document.cells, last) }, { by });
        return { cellId: cell.id };
      }
      throw new NotebookError('nothing_to_undo', 'This window has deleted no cell that could be put back.');
    },
    async run({ cellId }) {
      const { status, executionCount } = await session.run(cellId, { by });
      return { status, executionCount };
    },
    answerInput: ({ questionId, text }) => session.questions.answer(questionId, text),
    stop: () => session.stop({ by }),
    interrupt: async () => void (await session.interrupt({ by })),
    restart: () => session.restart({ by }),
    undo: ({ entryId }) => void session.undo(entryId, { by }),
    setReadOnly({ readOnly }) {
      session.readOnly = readOnly;
    },
    async setToolAccess({ allowed }) {
      if (!codeTools) throw new HostError('bad_request', 'There are no tools that code in this notebook could call. Reload the window.');
      try {
        await codeTools.setAllowed(allowed);
      } catch (error) {
        throw new HostError('access_unchanged', `Whether code may call tools was not changed: ${messageOf(error)}`, { cause: error });
      }
    },
    disconnectAgent: ({ agentId }) => disconnectAgent(agentId),
    save: () => assertFile(file).save(),
    listKernels: async () => ({ kernels: await assertKernels(kernels).list() }),
    useKernel: ({ id }) => assertKernels(kernels).use(id, by),
    trustFolder: ({ yes, folder }) => assertKernels(kernels).trustFolder({ yes, folder }, by),
    resolveConflict: ({ keep }) => assertFile(file).resolve(keep),
  };
  return async (action) => (performers[action.do] as (action: ViewerAction) => unknown)(action);
}

function assertKernels(kernels: NotebookKernels | undefined): NotebookKernels {
  if (!kernels) throw new HostError('bad_request', 'The kernel of this notebook is given by its host, and cannot be changed here.');
  return kernels;
}

function assertFile(file: FileStore | undefined): FileStore {
  if (!file) throw new HostError('no_file', 'This notebook has no file, so it cannot be saved. Start Notebridge with a file name.');
  return file;
}
