import { readRuntime } from '../carried-files.js';
import type { Emitter } from '../model.js';
import { sealFiles } from '../seal-files.js';
import { indexFiles, moduleOf } from './emit-typescript.js';
import { nameModules } from './server-modules.js';

/** What takes the place of what calls a hub over HTTP. */
const ofKernels = '_kernel';

/**
 * The functions of the TypeScript package for code in a kernel of Notebridge, which needs no types and no network: the same names, results and
 * errors. The kernel gives `globalThis.$notebridge.call`.
 */
export const emitKernelModules: Emitter = async (input) => {
  const servers = nameModules(input);
  const runtime = await readRuntime('typescript', (path) => path.endsWith('.js'));
  const files = new Map<string, string>();
  for (const [path, text] of runtime) {
    if (path.startsWith(ofKernels) || /^_(own_hub|package)\.js$/.test(path) || (!input.skills && /^_?skills\.js$/.test(path))) continue;
    files.set(path, runtime.get(`${ofKernels}${path}`) ?? text);
  }
  for (const server of servers) files.set(`mcp/${server.module}.js`, moduleOf(server));
  for (const [path, text] of indexFiles(input, servers)) files.set(`${path}.js`, text);
  return sealFiles(files, []);
};
