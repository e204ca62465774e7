import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { codeModeInstructions, codeModeTools } from './code-mode-tools.js';
import { defaultCodeModeLimits } from './execution/code-mode-limits.js';

it('code mode costs an agent at most 1,500 tokens before its first word: the instructions with an example, and three tools', {
  tags: ['P-386'],
}, () => {
  const tools = codeModeTools(defaultCodeModeLimits);
  const text = codeModeInstructions + JSON.stringify(tools);
  expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tools', 'execute_code']);
  expect(encode(text).length).toBeLessThanOrEqual(1500);
  expect(encode(text).length).toBeGreaterThan(300);
});
