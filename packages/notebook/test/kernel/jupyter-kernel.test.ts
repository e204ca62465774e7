// @module-tag deep
// @module-tag P-205

import { describe } from 'vitest';
import { describeKernel } from './kernel-behaviour.js';
import { openJupyterHarness } from './support/jupyter-harness.js';

describe('a kernel of Jupyter: ipykernel', { timeout: 180_000 }, () => {
  describeKernel(() => openJupyterHarness());
});
