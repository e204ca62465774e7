import { codeModeTools } from '@notebridge/code-mode/code-mode-tools';
import { defaultCodeModeLimits } from '@notebridge/code-mode/execution/code-mode-limits';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { ToolSet } from 'ai';
import { expect, it } from 'vitest';
import { toAiSdkTools } from './ai-sdk-tools.js';

it('tools of the AI SDK have our schemas, call by name and signal, and tell images and failures apart', { tags: ['P-442'] }, async () => {
  const tools = codeModeTools(defaultCodeModeLimits);
  const called: unknown[] = [];
  const call = async (...asked: unknown[]): Promise<ToolResult> => {
    called.push(asked);
    return { content: [{ type: 'text', text: 'done' }] };
  };
  const given = toAiSdkTools({ tools, call });
  // Held to its types by the type check.
  const { execute_code: ofSdk } = given satisfies ToolSet;
  const execute = ofSdk ?? expect.fail();
  expect(Object.keys(given)).toEqual(tools.map(({ name }) => name));
  expect(execute.inputSchema['~standard'].jsonSchema.input()).toEqual(tools[2]?.inputSchema);
  const { signal } = new AbortController();
  expect(await execute.execute({ code: '1' }, { abortSignal: signal })).toEqual({ content: [{ type: 'text', text: 'done' }] });
  expect(called).toEqual([['execute_code', { code: '1' }, { signal }]]);
  const toOutput = (output: ToolResult) => execute.toModelOutput({ output });
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  expect(toOutput({ content: [image, { type: 'text', text: 'a plot' }] })).toEqual({
    type: 'content',
    value: [
      { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
      { type: 'text', text: 'a plot' },
    ],
  });
  expect(toOutput({ content: [{ type: 'text', text: 'oh' }], isError: true })).toEqual({ type: 'error-text', value: 'oh' });
});
