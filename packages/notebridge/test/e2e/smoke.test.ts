// @module-tag deep

import { expect, it } from 'vitest';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

it('carries a call to the page, over a reload, without restarting anything', async () => {
  await using program = await Program.open();
  const address = await program.address();
  const answer = ({ method, params }: Record<string, unknown>) =>
    method === 'tools/call' ? { result: { content: [{ type: 'text', text: JSON.stringify(params) }] } } : undefined;

  const first = await RawPage.serve({ ...address, answer });
  expect(await program.callTool('get_cells', { cellIndexStart: 1 })).toMatchObject({
    result: { content: [{ text: '{"name":"get_cells","arguments":{"cellIndexStart":1}}' }] },
  });
  await first.close();

  const waiting = program.callTool('get_cells', { cellIndexStart: 2 });
  await using _second = await RawPage.serve({ ...address, answer });
  expect(await waiting).toMatchObject({ result: { content: [{ text: '{"name":"get_cells","arguments":{"cellIndexStart":2}}' }] } });
  expect(program.noise).toEqual([]);
  expect(await program.close()).toBe(0);
});
