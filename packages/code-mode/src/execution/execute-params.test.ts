import { describe, expect, it } from 'vitest';
import { defaultCodeModeLimits } from './code-mode-limits.js';
import { parseExecute } from './execute-params.js';

const parse = (params: unknown) => parseExecute(params, defaultCodeModeLimits);

describe('parseExecute', () => {
  it.each(['javascript', 'typescript', 'JavaScript', 1])('refuses the language %j, and says what there is', (language) => {
    expect(() => parse({ code: '1', language })).toThrow(/^Code here is Python: .*"notebridge generate --lang typescript"\.$/);
  });

  it.each(['python', null])('takes the language %j, which changes nothing', (language) => {
    expect(parse({ code: '1', language })).toEqual(parse({ code: '1' }));
  });
});
