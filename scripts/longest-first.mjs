// The order in which vitest takes the test files: those that take long first, so that none of them is begun last and ends alone. vitest
// knows durations from the run before; a fresh clone has none, and there a file's size says little.
import { BaseSequencer } from 'vitest/node';

/**
 * Those that take long, on a machine with much else to do, the longest first: `threads` has a cell of three minutes, so that whoever begins it last
 * waits for it alone. A name that is missing here costs time and nothing else.
 */
const long = [
  'threads',
  'hostile-outputs',
  'conformance',
  'floods',
  'differential-matrix',
  'docs',
  'python-clients',
  'demo',
  'code-mode-tasks',
  'code-mode-skills',
  'soak',
  'cluster-story',
  'code-questions',
  'questions',
  'conformance-auth',
  'broker-kills',
  'kernels',
  'attacked-code-check',
  'code-mode-clock',
  'code-mode-shares',
  'jupyterlab',
  'upstreams-eras',
  'notebook-shared-window',
  'jupyter-notebook',
  'lab/kernel',
  'jupyter-runs-kept',
  'jupyter-bad-input',
  'story',
  'jupyter-sandboxed',
  'folder',
  'one-broker',
  'notebook-outlives',
  'attacked-skills',
  'console-cluster',
  'code-mode-files',
  'attacked-renewal',
  'cluster-pages',
  'bad-servers',
  'cli-call',
  'python-tools',
  'two-containers',
  'kernel-in-chromium',
  'package',
  'bindings-python-types',
  'kill',
  'bindings-pytest',
  'notebook-leases',
  'window',
  'upstreams-http',
  'tasks',
  'policy-table',
  'scripts',
  'kernel-in-node',
  'bindings-shared-dir',
  'everyday-cells',
  'deploy',
  'bindings-python-package',
  'bindings-generate',
  'agents',
  'tool-proxy-large',
  'upstreams-tree',
];

export default class LongestFirst extends BaseSequencer {
  async sort(files) {
    const rankOf = ({ moduleId }) => long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`)) >>> 0;
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}
