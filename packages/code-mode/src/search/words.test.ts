import { expect, it } from 'vitest';
import { ideasOf, isIdea, searchWordsOf, stemOf } from './words.js';

it.each<[text: string, words: string[]]>([
  ['read_text_file', ['read', 'text', 'file']],
  ['readTextFile', ['read', 'text', 'file']],
  ['API-post-search', ['api', 'post', 'search']],
  ['getHTTPStatus.v2', ['get', 'http', 'status', 'v2']],
  ['utf8Decode', ['utf8', 'decode']],
  ['größe ändern', ['größe', 'ändern']],
  ['名前を読む', ['名前を読む']],
  ['__proto__', ['proto']],
  ['\u0000a\u202eb\n', ['a', 'b']],
  ['', []],
])('%j has the words %j', (text, words) => expect(searchWordsOf(text)).toEqual(words));

it('forms of a word have one stem', () => {
  expect(new Set(['delete', 'deleted', 'deleting', 'deletes'].map(stemOf)).size).toBe(1);
  expect(stemOf('名前')).toBe('名前');
  expect(stemOf('k8s')).toBe('k8s');
});

it('words for one idea share a term that no text has', () => {
  const common = ideasOf(stemOf('removing')).filter((idea) => ideasOf(stemOf('delete')).includes(idea));
  expect(common).toHaveLength(1);
  expect(common.every(isIdea)).toBe(true);
  expect(searchWordsOf(common[0] ?? '')).not.toContain(common[0]);
  expect(ideasOf('constructor')).toEqual([]);
});
