// The order in which vitest takes the test files: those that take long first, so that none of them is begun last and ends alone. vitest
// knows durations from the run before; a fresh clone has none, and there a file's size says little.
import { BaseSequencer } from 'vitest/node';

/** Over 20 s on two cores, the longest first. A name that is missing here costs time and nothing else. */
const long = [
  'bindings-python-types',
  'bindings-python-package',
  'jupyterlab',
  'python-tools',
  'two-containers',
  'bindings-shared-dir',
  'demo',
  'kernel-in-chromium',
  'docs',
  'deploy',
  'agents',
  'upstreams-tree',
  'bindings-pytest',
  'kill',
  'together',
  'bindings-generate',
  'cli-call',
  'tool-proxy-large',
  'kernel-in-node',
];

export default class LongestFirst extends BaseSequencer {
  async sort(files) {
    const rankOf = ({ moduleId }) => long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`)) >>> 0;
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}
