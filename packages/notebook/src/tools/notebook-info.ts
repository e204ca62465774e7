import { describeLayer } from '../kernel/layers.js';
import type { Run } from '../session/run-queue.js';
import type { NotebookSession } from '../session/session.js';
import { defineNotebookTool, looks, runs } from './tool.js';

export const getNotebookInfo = defineNotebookTool<Record<string, never>>({
  name: 'get_notebook_info',
  description:
    'Describes the notebook: title, number of cells by type, kernel (language, version, state, what its code can do to this machine, and the layers between them, known once it has started), the running cell and those that wait, whether agents may change it, and how many changes of agents can be undone.',
  annotations: { ...looks('Describe the notebook'), idempotentHint: true },
  answer({ session, options }) {
    const { document, kernel, journal, running, queued } = session;
    const unsaved = options.whyUnsaved?.();
    const note = options.fileNote?.();
    const count = (type: string) => document.cells.filter((cell) => cell.type === type).length;
    return {
      value: {
        ...(session.title === undefined ? {} : { title: session.title }),
        cells: document.cells.length,
        cell_types: { code: count('code'), markdown: count('markdown'), raw: count('raw') },
        kernel: {
          ...toKernelView(session),
          ...session.describeKernel(),
          ...(kernel.layers ? { layers: kernel.layers.map(describeLayer) } : {}),
        },
        running: running ? toView(running) : null,
        queued: queued.map(toView),
        read_only: session.readOnly,
        ...(unsaved === undefined ? {} : { unsaved }),
        ...(note === undefined ? {} : { file_note: note }),
        undoable_changes: journal.entries.filter(({ undone }) => !undone).length,
      },
    };
  },
});

export const interruptExecution = defineNotebookTool<Record<string, never>>({
  name: 'interrupt_execution',
  description:
    'Interrupts the cell that is running, whoever started it; variables stay, and cells that wait go on. Answers {"interrupted": cell id or null}.',
  annotations: { ...runs('Interrupt the running cell'), openWorldHint: false },
  async answer({ session, by }) {
    const run = await session.interrupt({ by });
    return { value: { interrupted: run?.cellId ?? null } };
  },
});

export const restartKernel = defineNotebookTool<Record<string, never>>({
  name: 'restart_kernel',
  description:
    'Restarts the kernel: all variables are gone, the running cell is interrupted, cells that wait are forgotten; cells and outputs stay. Answers {"restarted": true, "kernel"}.',
  annotations: { ...runs('Restart the kernel'), openWorldHint: false },
  async answer({ session, by }) {
    await session.restart({ by });
    return { value: { restarted: true, kernel: toKernelView(session) } };
  },
});

/** As agents see it. */
function toKernelView({ kernel: { info, state } }: Pick<NotebookSession, 'kernel'>) {
  const { name, displayName: display_name, language, version } = info;
  return { name, display_name, language, version, state };
}

function toView({ cellId, by }: Run) {
  return { cellId, started_by: by };
}
