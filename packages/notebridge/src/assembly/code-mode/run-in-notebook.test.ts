import { toTextResult } from '@notebridge/protocol/core/mcp';
import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import { expect, it, onTestFinished } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { Hub } from '../../hub.js';
import { createRunInNotebook } from './run-in-notebook.js';

it('a notebook whose kernel lacks the functions of the tools says where they are, and no other does', { tags: ['P-440'] }, async () => {
  const hub = new Hub();
  onTestFinished(() => hub.close());
  const said = "ModuleNotFoundError: No module named 'generated'";
  const tool = { name: 'run_code', inputSchema: {}, run: async ({ code }: { code?: unknown }) => toTextResult(String(code)) };
  hub.addProvider(new MemoryProvider({ name: 'notebook', tools: [tool] }));
  const run = async (code: string) => {
    const { signal } = new AbortController();
    const asked = { context: createContext('tools/call'), code, notebook: true, seconds: 5, signal, onProgress: () => {} } as const;
    return (await createRunInNotebook(hub)(asked)).content;
  };
  expect(await run("No module named 'other'")).toHaveLength(1);
  expect(await run(said)).toEqual([
    { type: 'text', text: said },
    { type: 'text', text: expect.stringMatching(/Leave "notebook" out: .*--shared-dir FOLDER/) },
  ]);
});
