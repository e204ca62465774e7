// @module-tag deep
// @module-tag P-317

import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { Program } from '../support/program.js';

/** The text of the answer. */
async function run(program: Program): Promise<string> {
  const { result } = await program.callTool('run_code', { code: 'for i in range(20000): print("line", i)' });
  return String((result as { content: JsonObject[] }).content[0]?.text);
}

it('an agent of the built-in notebook with --outputs whole is answered with outputs as they are, and one without within the budget', {
  timeout: 120_000,
}, async () => {
  await using whole = await Program.open({ args: ['--notebook', 'local', '--outputs', 'whole'] });
  const text = await run(whole);
  const { outputs } = JSON.parse(text) as { outputs: { text: string[] }[] };
  expect(outputs[0]?.text).toEqual(Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`));
  await using fitted = await Program.open({ args: ['--notebook', 'local'] });
  expect((await run(fitted)).length).toBeLessThanOrEqual(20_000);
});
