import { expect, it } from 'vitest';
import { headingsOf } from './headings.js';

it('headingsOf finds those of text cells, outside of code, without marks', () => {
  const text = '# *One* `x`\nwords\n```\n# no heading\n```\n### [Three](https://example.com) snake_case _it_ ##\n#none\n####### none';
  const cells = [
    { id: 'a', type: 'markdown' as const, source: text },
    { id: 'b', type: 'code' as const, source: '# a comment' },
  ];
  expect(headingsOf(cells)).toEqual([
    { cellId: 'a', level: 1, text: 'One x' },
    { cellId: 'a', level: 3, text: 'Three snake_case it' },
  ]);
});
