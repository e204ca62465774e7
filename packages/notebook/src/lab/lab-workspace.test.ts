// @module-tag P-271

import { afterAll, expect, it } from 'vitest';
import { LabWorkspace } from './lab-workspace.js';

const workspace = new LabWorkspace({ target: {}, env: {} });
afterAll(() => workspace.close());

it('lists its tools in few bytes: an agent reads them before its first word', () => {
  expect(JSON.stringify(workspace.tools).length).toBeLessThan(12_000);
});
