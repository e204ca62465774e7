// @module-tag P-666

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HeadlessWindow } from '../../src/host/headless-window.js';

describe('a window that nobody sees', () => {
  it('is not waited for again and again where its browser does not start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebook-headless-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [program, starts] = [join(folder, 'browser'), join(folder, 'starts')];
    writeFileSync(program, `#!/bin/sh\necho start >> ${JSON.stringify(starts)}\nexit 1\n`, { mode: 0o755 });
    const window = new HeadlessWindow({ program, newUrl: () => 'http://localhost:1/#x' });
    for (let chart = 0; chart < 3; chart++) expect(await window.open()).toBe(false);
    expect(readFileSync(starts, 'utf8')).toBe('start\n');
    await window.close();
  });
});
