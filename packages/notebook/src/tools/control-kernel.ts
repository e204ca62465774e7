import { toKernelView } from './notebook-info.js';
import { defineNotebookTool, runs } from './tool.js';

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
