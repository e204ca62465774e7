import { messageOf } from '../../core/errors.js';
import { describeEnvironment, type Environment } from '../../processes/environment.js';
import { type Check, fault, note, ok } from './check.js';

/** As package.json demands. */
const least = [20, 19] as const;

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return ok('Node.js', version);
  return fault('Node.js', `${version} is too old`, `Install ${least.join('.')} or newer.`);
}

/** Whether a notebook can be shown here. Without a browser the answer of the open tool names the URL, so it is no fault. */
export function checkBrowser(env: Environment): Check {
  const { BROWSER: named = '' } = env;
  if (named.trim() !== '') return ok('browser', `BROWSER is set to ${JSON.stringify(named)}`);
  const { display, ssh, container, wsl } = describeEnvironment({ env });
  if (display) return ok('browser', `the system's own${wsl ? ', on Windows' : ''}`);
  const why = ssh ? 'this is an SSH session' : container ? 'this is a container' : 'this machine has no screen';
  return note('browser', `none can be opened: ${why}`, 'Open the URL by hand that the agent is told, or set BROWSER.');
}

/** Starts Python as the built-in notebook does, and ends it again. */
export async function checkKernel(): Promise<Check> {
  const startedAt = performance.now();
  try {
    const { createNotebookHost } = await import('@notebridge/notebook/host');
    const host = createNotebookHost({ port: 0 });
    try {
      await host.start();
      await host.session.start();
    } finally {
      await host.close();
    }
    return ok('built-in Python', 'starts', performance.now() - startedAt);
  } catch (error) {
    return fault(
      'built-in Python',
      `does not start: ${messageOf(error)}`,
      'Install Notebridge anew (npm install); its Python is a part of it.',
    );
  }
}
