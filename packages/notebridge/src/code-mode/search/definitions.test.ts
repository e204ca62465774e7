import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { describeToolsTool, searchToolsTool } from './definitions.js';

it('the two definitions take at most 600 tokens, as agents see them', () => {
  const shown = [searchToolsTool, describeToolsTool].map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(countTokens(JSON.stringify(shown))).toBeLessThanOrEqual(600);
});
