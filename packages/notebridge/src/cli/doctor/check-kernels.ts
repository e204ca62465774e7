import { messageOf } from '@notebridge/kit/message-of';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { ownUserId } from '../../processes/own-user.js';
import { stateDir } from '../../processes/state-dir.js';
import { createTrustedFolders } from '../../state/trusted-folders.js';
import { type Check, note, ok } from './check.js';

/** The kernel that `--kernel auto` takes for a notebook of the working directory. None but Pyodide is no fault: that one is always there. */
export async function checkOwnPython(): Promise<Check> {
  const name = 'kernel';
  const startedAt = performance.now();
  try {
    const { lookAtKernels } = await loadNotebook(stateDir());
    const { auto } = await lookAtKernels({ trust: createTrustedFolders(stateDir(), { uid: ownUserId() }) });
    const { kernel, reason, proposal, notice } = auto;
    const found = `auto takes ${kernel.displayName} here: ${reason}`;
    if (proposal) return note(name, found, `${proposal.trust?.question ?? ''} Answer in the window, or: --kernel ${proposal.id}`);
    if (notice !== undefined) return note(name, found, notice);
    return ok(name, found, performance.now() - startedAt);
  } catch (error) {
    return note(name, `cannot be looked for: ${messageOf(error)}`, 'Choose one yourself: --kernel, see "notebridge kernels --help".');
  }
}
