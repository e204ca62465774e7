// @module-tag deep
// @module-tag P-462

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lookAtSandbox } from '@notebridge/notebook/host';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CodeAgent, type CodeAnswer, type CodeDoor, codeDoors } from '../support/code-mode.js';

const slow = 240_000;
const here = await lookAtSandbox('auto');

describe('the memory of code', () => {
  let folder: string;
  let agent: CodeAgent;
  /** Waits for its end, however long a busy machine takes to give so much memory. */
  const run = async (code: string, session?: unknown): Promise<CodeAnswer> => {
    let answer = await agent.execute({ code, ...(session === undefined ? {} : { session }) });
    while (answer.status === 'running') answer = await agent.execute({ run_id: answer.runId });
    return answer;
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    agent = await (codeDoors[0] as CodeDoor).open({ folder, servers: {}, notebridge: { codeMode: { memoryMb: 2048, seconds: 200 } } });
    await run('kept = 5');
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(({ skip }) => skip(!here.active, `memory is bounded by the sandbox of the operating system: ${here.text}`));

  it(
    'is bounded by memoryMb: a list that grows gets a MemoryError, or ends its Python, and no other',
    async () => {
      const code = 'got = []\nwhile len(got) < 40:\n    got.append(bytearray(2**27))\n    print(len(got))';
      const answer = await run(code, 'new');
      const text = answer.texts.join('\n');
      expect(answer.isError).toBe(true);
      expect(text).toMatch(/MemoryError|The Python died while the code ran, and its variables are gone\. The code was not run again/);
      const counts = text.match(/^\d+$/gm)?.map(Number) ?? [];
      // Of 128 MiB each; with less than 2 GiB, of which Node takes its part.
      expect(Math.max(0, ...counts)).toBeLessThan(16);
      expect(Math.max(0, ...counts)).toBeGreaterThan(1);
      expect(await run('kept')).toMatchObject({ status: 'ok', result: '5' });
      expect(await run('20 + 22', answer.session)).toMatchObject({ status: 'ok', result: '42' });
    },
    slow,
  );

  it(
    'is bounded for one large piece and for files in memory, too',
    async () => {
      for (const code of [
        'x = [bytearray(2**31 - 1), bytearray(2**30)]',
        'with open("/tmp/x", "wb") as file:\n    for n in range(30): file.write(b"x" * 2**27)',
        'with open("/out/x", "wb") as file:\n    file.seek(3 * 2**30)\n    file.write(b"x")',
      ]) {
        const answer = await run(code, 'new');
        expect(answer.isError, answer.texts.join('\n')).toBe(true);
        expect(answer.texts.join('\n')).toMatch(/MemoryError|Error|The Python died/);
        expect(await run('20 + 22', answer.session)).toMatchObject({ status: 'ok', result: '42' });
      }
      expect(await run('kept')).toMatchObject({ status: 'ok', result: '5' });
    },
    slow,
  );
});
