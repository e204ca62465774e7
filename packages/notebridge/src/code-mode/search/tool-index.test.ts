// @module-tag P-405

import { expect, it } from 'vitest';
import type { SearchedTexts } from './tool-document.js';
import { ToolIndex } from './tool-index.js';

const texts = (name: string, description = ''): SearchedTexts => ({
  name,
  whole: name.replaceAll('_', ''),
  server: 'it',
  title: '',
  description,
  arguments: '',
  details: '',
});

function indexOf(...tools: [name: string, description?: string][]) {
  const index = new ToolIndex();
  const names = new Map(tools.map(([name, description]) => [index.add(texts(name, description)), name]));
  return { index, names, find: (query: string) => index.find(query, () => true).map(({ id }) => names.get(id)) };
}

it.each<[about: string, query: string]>([
  ['the name', 'delete_record'],
  ['the name in another spelling', 'deleteRecord'],
  ['the name with its server', 'it.delete_record'],
  ['its words', 'record delete'],
  ['another form of a word', 'deleting records'],
  ['another word for it', 'remove a row'],
  ['the beginning of a word', 'reco'],
  ['a word with a slip', 'delte recrod'],
  ['a sentence', 'Could you please erase this record for me?'],
  ['a word of the description', 'irrevocably'],
])('finds a tool by %s', (_, query) => {
  const { find } = indexOf(['list_boards'], ['delete_record', 'It goes irrevocably.'], ['create_board'], ['mind_map']);
  expect(find(query)[0]).toBe('delete_record');
});

it('finds two words of a name as one', () => expect(indexOf(['mind_map'], ['list_boards']).find('mindmap')).toEqual(['mind_map']));

it('prefers the tool that has more of the words', () => {
  const { find } = indexOf(['create_issue', 'Issue, issue, issue.'], ['comment_issue', 'Adds a comment to an issue.']);
  expect(find('comment on an issue')[0]).toBe('comment_issue');
});

it('finds nothing for words that nobody has, and asks which it may find', () => {
  const { index, find } = indexOf(['a_secret'], ['a_note']);
  expect([find('zzzqqq'), find(''), find('?!')]).toEqual([[], [], []]);
  expect(index.find('secret', () => false)).toEqual([]);
});

it('does not find what was removed, before and after it is given back', async () => {
  const { index, find } = indexOf(['keep_this']);
  const ids = Array.from({ length: 300 }, (_, at) => index.add(texts(`drop_that_${at}`)));
  for (const id of ids) index.remove(id);
  index.remove(ids[0] ?? 0);
  for (let round = 0; round < 2; round++) {
    expect(index.size).toBe(1);
    expect(find('drop')).toEqual([]);
    expect(find('keep this')).toEqual(['keep_this']);
    await index.compact();
  }
  index.add(texts('drop_it'));
  expect(index.find('drop', () => true)).toHaveLength(1);
});

it('takes names of members of objects for words', () => {
  const { find } = indexOf(['__proto__'], ['constructor'], ['toString', 'hasOwnProperty valueOf']);
  expect(find('__proto__')[0]).toBe('__proto__');
  expect(find('constructor')[0]).toBe('constructor');
  expect(find('hasOwnProperty')[0]).toBe('toString');
});
