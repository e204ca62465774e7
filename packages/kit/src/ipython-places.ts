import { homedir } from 'node:os';
import { join } from 'node:path';
import { namesIn } from './seen-files.js';

/**
 * The files of IPython's own folder that it runs, or takes as settings, as each kernel starts. Each may be a link, and whatever is there is code. `env`: of
 * the kernel.
 */
export function findIpythonPlaces(env: Readonly<Record<string, string | undefined>>): string[] {
  const folder = env.IPYTHONDIR || join(env.HOME || homedir(), '.ipython');
  const profile = join(folder, 'profile_default');
  const startup = join(profile, 'startup');
  const settings = ['ipython_config', 'ipython_kernel_config'].flatMap((name) => [`${name}.py`, `${name}.json`]);
  return [...[...settings, 'startup'].map((name) => join(profile, name)), ...namesIn(startup).map((name) => join(startup, name))];
}
