// @module-tag P-188
// @module-tag P-193

/** `--sandbox`, as users meet it: in the command, in what agents are told, in doctor. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeState, lookAtBounds, lookAtSandbox } from '@notebridge/notebook/host';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, runProgram } from '../support/program.js';

const here = await lookAtSandbox('auto');
if (!here.active) console.warn(`Without a sandbox: ${here.text}`);

let empty: string;
beforeAll(() => {
  empty = mkdtempSync(join(tmpdir(), 'notebridge-path-'));
});
afterAll(() => rmSync(empty, { recursive: true, force: true }));

async function layersOf(program: Program): Promise<string[]> {
  await program.callTool('run_code', { code: '1' });
  const { content } = ((await program.callTool('get_notebook_info')) as { result: { content: { text: string }[] } }).result;
  return (JSON.parse(content[0]?.text ?? '') as { kernel: { layers: string[] } }).kernel.layers;
}

async function doctor(args: string[], env: Record<string, string> = {}) {
  const { stdout, ending } = await runProgram(['doctor', '--json', '--port', '0', ...args], { env });
  return { ending, checks: (JSON.parse(stdout) as { checks: ({ name: string } & JsonObject)[] }).checks };
}

describe('--sandbox', () => {
  it.skipIf(!here.active)(
    'require: Python is in one, and the agent and doctor are told in the same words',
    { tags: ['P-241'] },
    async () => {
      await using program = await Program.open({ args: ['--notebook', 'local', '--sandbox', 'require'] });
      const layers = await layersOf(program);
      expect(layers).toEqual([
        `operating system: ${describeState(here)}`,
        expect.stringMatching(/^runtime: active/),
        expect.stringMatching(/^neighbours: active/),
      ]);
      const { checks } = await doctor(['--sandbox', 'require']);
      for (const text of layers)
        expect(checks).toContainEqual(
          expect.objectContaining({ name: text.split(': ')[0], status: 'ok', found: text.slice(text.indexOf(': ') + 2) }),
        );
      const { text, isKept } = lookAtBounds();
      expect(text).toMatch(/^processes (bounded by|watched ten times a second alone).*; all memory together (bounded by|watched)/);
      expect(checks).toContainEqual(
        expect.objectContaining({ name: 'bounds of an own Python', status: isKept ? 'ok' : 'note', found: text }),
      );
    },
  );

  it('require, without bubblewrap: nothing starts, and it says what to do', async () => {
    const program = new Program({ args: ['stdio', '--notebook', 'local', '--sandbox', 'require'], env: { PATH: empty } });
    expect(await program.ended).toBe(1);
    expect(program.stderr).toMatch(/^notebridge: There is no sandbox for Python.*bubblewrap is not installed.*apt install bubblewrap/);
    await program.close();
  });

  it('auto, without bubblewrap: goes on, and says so with the reason and the fix', async () => {
    await using program = await Program.open({ args: ['--notebook', 'local'], env: { PATH: empty } });
    expect((await layersOf(program))[0]).toMatch(/^operating system: not active \(bubblewrap is not installed/);
    const { checks, ending } = await doctor(['--no-kernel'], { PATH: empty });
    expect(ending).toBe(0);
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'operating system', status: 'note', next: expect.stringMatching(/apt install bubblewrap/) }),
    );
    const required = await doctor(['--no-kernel'], { PATH: empty, NOTEBRIDGE_SANDBOX: 'require' });
    expect(required.ending).toBe(1);
    expect(required.checks).toContainEqual(expect.objectContaining({ name: 'operating system', status: 'fault' }));
  });

  it('off, by the environment: says that it was switched off', async () => {
    await using program = await Program.open({ args: ['--notebook', 'local'], env: { NOTEBRIDGE_SANDBOX: 'off' } });
    expect((await layersOf(program))[0]).toBe('operating system: not active (it was switched off)');
  });

  it('refuses a mode that there is not', async () => {
    const { ending, stderr } = await runProgram(['stdio', '--sandbox', 'maybe']);
    expect(ending).toBe(2);
    expect(stderr).toMatch(/require, auto, off/);
  });
});
