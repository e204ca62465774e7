import { messageOf } from '@notebridge/kit/message-of';
import type { Layer, SandboxMode } from '@notebridge/notebook/host';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { describeEnvironment, type Environment } from '../../processes/environment.js';
import { stateDir } from '../../processes/state-dir.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** As package.json demands. */
const least = [20, 19] as const;

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return ok('Node.js', version);
  return failedCheck('Node.js', `${version} is too old`, `Install ${least.join('.')} or newer.`);
}

/** Whether a notebook can be shown here. Without a browser the answer of the open tool names the URL, so it is no fault. */
export function checkBrowser(env: Environment): Check {
  const { BROWSER: named = '' } = env;
  if (named.trim() !== '') return ok('browser', `BROWSER is set to ${JSON.stringify(named)}`);
  const { display, ssh, container, wsl } = describeEnvironment({ env });
  if (display) return ok('browser', `the system's own${wsl ? ', on Windows' : ''}`);
  const why = ssh ? 'this is an SSH session' : container ? 'this is a container' : 'this machine has no screen';
  return note('browser', `none can be opened: ${why}`, 'Open by hand the URL that the agent gets, or set BROWSER.');
}

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
