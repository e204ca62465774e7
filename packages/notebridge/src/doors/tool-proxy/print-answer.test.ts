import { parseJson } from '@notebridge/protocol/exact-json';
import { describe, expect, it } from 'vitest';
import { printAnswer, type ToolCallResponse } from './to-answer.js';

const response: ToolCallResponse = {
  success: true,
  result: 'a',
  error: null,
  is_error: false,
  meta: null,
  error_code: null,
  call_id: 'x-1',
  duration_ms: 1.5,
};

function printed(answer: ToolCallResponse, maxBytes: number): string {
  const text = printAnswer(answer, maxBytes);
  return typeof text === 'string' ? text : Buffer.concat(text).toString();
}

describe('printAnswer', () => {
  it.each<Partial<ToolCallResponse>>([
    {},
    { result: 'quote " backslash \\ newline \n control \u0001 ключ \ud800' },
    { result: { a: [1, null] }, content: [{ type: 'text', text: 'a' }], structured_content: { b: 1 }, meta: { c: 'd' } },
    { success: false, is_error: true, result: 'No "way"', error: 'No "way"' },
    { success: false, result: null, error: 'Gone', error_code: 'timeout' },
    { result: null },
    { result: 0 },
    { result: ['a'] },
  ])('prints every member once: %j', (members) => {
    expect(JSON.parse(printed({ ...response, ...members }, 10_000))).toEqual({ ...response, ...members });
  });

  it('prints null for what has no JSON', () => {
    expect(JSON.parse(printed({ ...response, result: undefined, content: () => 1 }, 10_000))).toMatchObject({
      result: null,
      content: null,
    });
  });

  it('counts bytes, not characters', () => {
    const rest = printed({ ...response, result: '' }, 10_000).length;
    expect(printed({ ...response, result: 'é'.repeat(100) }, rest + 200)).toContain('éé');
    expect(JSON.parse(printed({ ...response, result: 'é'.repeat(100) }, rest + 199))).toMatchObject({
      success: false,
      result: null,
      error_code: 'result_too_large',
      call_id: 'x-1',
    });
  });

  it('fails for a result that is nested too deeply to be printed', () => {
    const deep = parseJson(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect(JSON.parse(printed({ ...response, result: deep }, 10_000_000))).toMatchObject({
      success: false,
      result: null,
      error_code: 'message_too_deep',
    });
  });
});
