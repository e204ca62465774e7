import type { Layer, SandboxMode } from '@notebridge/notebook/host';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { loadLab, loadNotebook } from '../../assembly/load-notebook.js';
import { createTrustedFolders } from '../../assembly/trusted-folders.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** Has a program run in the sandbox that Python would be in, and says what bounds an own Python there. */
export async function checkSandbox(mode: SandboxMode): Promise<Check[]> {
  const { lookAtSandbox, lookAtBounds, describeState } = await loadNotebook(stateDir());
  const startedAt = performance.now();
  const layer = await lookAtSandbox(mode);
  const check = toCheck(layer, describeState(layer), { mode, ms: performance.now() - startedAt });
  if (!layer.active) return [check];
  const { text, isKept, fix } = lookAtBounds();
  return [check, isKept ? ok('bounds of an own Python', text) : note('bounds of an own Python', text, fix)];
}

/** Starts Python as the built-in notebook does, says what stands between its code and this machine, and ends it again. */
export async function checkKernel(sandbox: SandboxMode): Promise<Check[]> {
  const startedAt = performance.now();
  try {
    const { createNotebookHost, describeState } = await loadNotebook(stateDir());
    // Whether there is a sandbox where one is required, checkSandbox has found out.
    const host = createNotebookHost({ port: 0, sandbox: sandbox === 'require' ? 'auto' : sandbox });
    let layers: readonly Layer[];
    try {
      await host.start();
      await host.session.start();
      layers = host.session.kernel.layers ?? [];
    } finally {
      await host.close();
    }
    const ms = performance.now() - startedAt;
    const others = layers.filter(({ name }) => name !== 'operating system');
    return [ok('built-in Python', 'starts', ms), ...others.map((layer) => toCheck(layer, describeState(layer)))];
  } catch (error) {
    const next = 'Install Notebridge anew (npm install); its Python is a part of it.';
    return [failedCheck('built-in Python', `does not start: ${messageOf(error)}`, next)];
  }
}

/** A layer that is missing is a fault only to those who require it. */
function toCheck({ name, active, fix }: Layer, found: string, { mode, ms }: { mode?: SandboxMode; ms?: number } = {}): Check {
  if (active) return ok(name, found, ms);
  if (mode === 'require') return failedCheck(name, found, fix ?? 'Choose --sandbox=auto.');
  return note(name, found, fix);
}

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

/** The Jupyter servers that `--notebook jupyter` would find. None is no fault: many never use it. */
export async function checkJupyter(): Promise<Check[]> {
  const { lookAtServers } = await loadLab();
  const found = await lookAtServers();
  if (found.length === 0) return [ok('JupyterLab', 'no server of yours runs; for --notebook jupyter: jupyter lab')];
  return found.map(({ baseUrl, folder, problem }) => {
    const where = `${baseUrl}, folder ${folder}`;
    return problem ? note('JupyterLab', `${where}: ${problem.reason}`, problem.fix) : ok('JupyterLab', where);
  });
}
