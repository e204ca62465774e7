// @module-tag deep
// @module-tag P-450

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenCode, rightCode, wrongCode } from '../support/checked-code.js';
import { type CodeAgent, codeDoors } from '../support/code-mode.js';
import { installedServer } from '../support/served-hub.js';

const slow = 240_000;
const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
const data = join(folder, 'data');

describe('code that is checked before it runs', () => {
  let agent: CodeAgent;
  beforeAll(async () => {
    mkdirSync(data);
    for (const name of ['a', 'b', 'c']) writeFileSync(join(data, `${name}.txt`), name.repeat(10));
    const servers = {
      everything: installedServer('everything'),
      filesystem: installedServer('filesystem', [data]),
      memory: installedServer('memory', [], { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }),
    };
    const stdio = codeDoors[0];
    if (stdio === undefined) throw new Error('There is no door.');
    agent = await stdio.open({ folder, servers, notebridge: { codeMode: { typeCheck: 'require', typeCheckMs: 60_000 } } });
    await untilChecked(agent);
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(rightCode(data))('runs: $name', async ({ code, isAlone }) => {
    const { status, texts } = await agent.execute({ code, ...(isAlone === true ? { kernel: 'fresh' } : {}) });
    expect({ status, texts: texts.join('\n') }).toMatchObject({ status: 'ok' });
    expect(texts.join('\n')).not.toContain('without a type check');
  });

  it.each(wrongCode(data))('is refused: $name', async ({ code, line, says }) => {
    const { status, texts, calls, isError } = await agent.execute({ code });
    expect({ status, calls, isError, texts }).toMatchObject({ status: 'error', calls: 0, isError: true });
    expect(texts[0]).toContain('Nothing was run');
    expect(texts[0]).toContain(`line ${line}: `);
    expect(texts[0]).toMatch(says);
  });

  it.each(brokenCode)('is no Python, which says so itself: $name', async ({ code, line, says }) => {
    const { status, texts, calls } = await agent.execute({ code });
    expect({ status, calls }).toEqual({ status: 'error', calls: 0 });
    expect(texts.join('\n')).toMatch(says);
    expect(texts.join('\n')).toContain(`line ${line}`);
  });
});

/** The first code may come while the checker starts. */
async function untilChecked({ execute }: CodeAgent): Promise<void> {
  const code = 'from generated.mcp.everything import echo\nawait echo(text="a")';
  for (let texts = ''; !texts.includes('Nothing was run'); ) texts = (await execute({ code })).texts.join();
}
