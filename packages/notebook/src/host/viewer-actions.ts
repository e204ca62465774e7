import { messageOf } from '@notebridge/protocol/util/message-of';
import type { KernelTools } from '../kernel/kernel-tools.js';
import type { NotebookKernels } from '../kernels/notebook-kernels.js';
import type { Actor } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import { HostError } from '../session/host-error.js';
import { runSeries } from '../session/run-series.js';
import type { NotebookSession } from '../session/session.js';
import type { LeaseState, ToolAccess, ViewerAction } from '../viewer/protocol.js';
import { readLibrary, readPage } from './chart-files.js';
import type { ChartPictures } from './chart-pictures.js';
import { completionsOf, inspectionOf } from './code-questions.js';
import type { FileStore } from './file-store.js';
import { readImageBeside } from './image-beside.js';
import type { NotebookFolder } from './notebook-folder.js';
import type { OutputTrust } from './output-trust.js';
import { deleteCells, mergeCells, pasteCells, splitCell, updateCells, WindowSteps } from './window-steps.js';
import type { WindowWidgets } from './window-widgets.js';

/** What the code of the notebook may call, and what a person sees and decides about it. */
export interface NotebookTools extends KernelTools {
  /** Null as long as there is nothing to call. */
  readonly access: ToolAccess | null;
  /** Called with each change. Returns the unsubscribe function. */
  onAccess(listener: (access: ToolAccess | null) => void): () => void;
  /** A person takes the right away, or gives a new one. Rejects with a message for the person. */
  setAllowed(isAllowed: boolean): Promise<void>;
}

/** Which agent changes and runs, and what a person decides about it. */
export interface LeaseDesk {
  readonly state: LeaseState;
  /** False if nobody asks that any more. */
  answer(questionId: number, isYes: boolean): boolean;
  setMayHold(agentId: string, may: boolean): void;
}

/** What a window works on. */
export interface ViewerTarget {
  readonly session: NotebookSession;
  /** Undefined for a notebook without a file. */
  readonly file: FileStore | undefined;
  /** Undefined where code has nothing to call. */
  readonly codeTools: NotebookTools | undefined;
  /** Undefined where the kernel cannot be chosen. */
  readonly kernels: NotebookKernels | undefined;
  /** Undefined for a notebook without a file: it has no folder. */
  readonly folder: NotebookFolder | undefined;
  /** The person at the window. */
  readonly by: Actor;
  /** Undefined where no output is ever trusted. */
  readonly trust?: OutputTrust | undefined;
  readonly widgets: WindowWidgets;
  /** Undefined where nobody asks for pictures. */
  readonly pictures?: ChartPictures | undefined;
  disconnectAgent(agentId: string): Promise<void>;
  /** Undefined where its agents are not kept apart. */
  readonly lease: LeaseDesk | undefined;
}

type Performers = { readonly [Do in ViewerAction['do']]: (action: Extract<ViewerAction, { do: Do }>) => unknown };

/**
 * Carries out what the person at one window asks for. Resolves to what the window needs to know of the result. Rejects with an error whose
 * message is for the person.
 */
export function createActions(target: ViewerTarget): (action: ViewerAction) => Promise<unknown> {
  const { session, file, codeTools, kernels, folder, trust, widgets, by, disconnectAgent } = target;
  const { document, kernel } = session;
  const steps = new WindowSteps(session, by);

  const performers: Performers = {
    insert: ({ index, cellType, source }) => ({ cellId: document.insert(index, { type: cellType, source }, { by }).id }),
    update: ({ cellId, source, expectedRev }) => document.update(cellId, source, { by, expectedRev }),
    paste: ({ index, cells }) => steps.perform(() => pasteCells(document, { index, cells, by })),
    updateAll: ({ updates }) => steps.perform(() => updateCells(document, updates, by)),
    move: ({ cellId, index }) => steps.perform(() => document.move(cellId, index, { by })),
    setType: ({ cellId, cellType }) => steps.perform(() => document.setType(cellId, cellType, { by })),
    clearOutputs: ({ cellId }) => document.clear(cellId, { by }),
    delete: ({ cellIds }) => steps.perform(() => deleteCells(document, cellIds, by)),
    split: (split) => steps.perform(() => splitCell(document, split, by)),
    merge: ({ cellIds }) => steps.perform(() => mergeCells(document, cellIds, by)),
    undoStep: () => ({ cellId: steps.undo() }),
    async run({ cellId }) {
      const { status, executionCount } = await session.run(cellId, { by });
      return { status, executionCount };
    },
    async runAll({ from, to, restart }) {
      if (restart) await session.restart({ by });
      return runSeries(session, { from, to, by });
    },
    complete: ({ code, position }) => completionsOf(kernel, code, position),
    inspect: ({ code, position, detail }) => inspectionOf(kernel, code, position, detail),
    listNotebooks: () => assertFolder(folder).list(),
    openNotebook: ({ path, isNew }) => assertFolder(folder).open(path, { isNew }),
    answerInput: ({ questionId, text }) => session.questions.answer(questionId, text),
    answerElicitation: ({ questionId, answer }) => session.questions.answerElicitation(questionId, answer),
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
    answerTakeOver({ questionId, yes }) {
      if (target.lease?.answer(questionId, yes) === true) return;
      throw new NotebookError('no_question', 'That agent does not ask for the notebook any more. Nothing was changed.');
    },
    setMayHold: ({ agentId, may }) => target.lease?.setMayHold(agentId, may),
    trustOutputs: ({ trusted }) => trust?.set(trusted),
    readImage: ({ path }) => {
      if (!file) throw new HostError('image_unreadable', 'Images can be shown from beside a notebook only if it has a file.');
      return readImageBeside(file.path, path);
    },
    readLibrary: ({ address }) => readLibrary(kernel, address),
    readPage: ({ path }) => readPage(kernel, path),
    drawn: ({ id, picture }) => target.pictures?.take(id, picture),
    save: () => assertFile(file).save(),
    listKernels: async () => ({ kernels: await assertKernels(kernels).list() }),
    useKernel: ({ id }) => assertKernels(kernels).use(id, by),
    trustFolder: ({ yes, id, folder }) => assertKernels(kernels).trustFolder({ yes, id, folder }, by),
    allow: ({ what, yes }) => assertKernels(kernels).allow({ what, yes }, by),
    findWidget: ({ modelId }) => widgets.find(modelId),
    openWidget: ({ modelId }) => widgets.open(modelId),
    callWidget: (call) => widgets.call(call, by),
    resolveConflict: ({ keep }) => assertFile(file).resolve(keep),
  };
  return async (action) => (performers[action.do] as (action: ViewerAction) => unknown)(action);
}

function assertKernels(kernels: NotebookKernels | undefined): NotebookKernels {
  if (!kernels) throw new HostError('bad_request', 'The kernel of this notebook is given by its host, and cannot be changed here.');
  return kernels;
}

function assertFolder(folder: NotebookFolder | undefined): NotebookFolder {
  if (folder) return folder;
  throw new HostError('no_file', 'This notebook is in no file, so it has no folder. Start Notebridge with a file name.');
}

function assertFile(file: FileStore | undefined): FileStore {
  if (!file) throw new HostError('no_file', 'This notebook has no file, so it cannot be saved. Start Notebridge with a file name.');
  return file;
}
