// @module-tag P-405

import { expect, it } from 'vitest';
import { ToolIndex } from './tool-index.js';
import { type SearchedTexts, termsOfTexts } from './tool-terms.js';

const texts = (name: string, description = ''): SearchedTexts => ({
  name,
  server: 'it',
  title: '',
  description,
});

function indexOf(...tools: [name: string, description?: string][]) {
  const index = new ToolIndex<string>();
  for (const [name, description] of tools) index.add(name, termsOfTexts(texts(name, description)));
  const find = async (query: string): Promise<string[]> => (await index.find(query, () => true)).map(({ entry }) => entry);
  return { index, find };
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
])('finds a tool by %s', async (_, query) => {
  const { find } = indexOf(['list_boards'], ['delete_record', 'It goes irrevocably.'], ['create_board'], ['mind_map']);
  expect((await find(query))[0]).toBe('delete_record');
});

it('finds two words of a name as one', async () =>
  expect(await indexOf(['mind_map'], ['list_boards']).find('mindmap')).toEqual(['mind_map']));

it('prefers the tool that has more of the words', async () => {
  const { find } = indexOf(['create_issue', 'Issue, issue, issue.'], ['comment_issue', 'Adds a comment to an issue.']);
  expect((await find('comment on an issue'))[0]).toBe('comment_issue');
});

it('finds nothing for words that nobody has, and asks which it may find', async () => {
  const { index, find } = indexOf(['a_secret'], ['a_note']);
  expect([await find('zzzqqq'), await find(''), await find('?!')]).toEqual([[], [], []]);
  expect(await index.find('secret', () => false)).toEqual([]);
});

it('counts what is added later', async () => {
  const { index, find } = indexOf(['read_note', 'Reads.'], ['send_note', 'Sends.']);
  expect(await find('read')).toEqual(['read_note']);
  index.add('read_mail', termsOfTexts(texts('read_mail', 'Reads, and reads again.')));
  expect((await find('read')).sort()).toEqual(['read_mail', 'read_note']);
});

it('scores beside the best one of those that may be found', async () => {
  const { index } = indexOf(['delete_record', 'Deletes a record.'], ['list_records', 'Lists.'], ['send_mail', 'Sends.']);
  const [best, other, ...more] = await index.find('record', () => true);
  expect([best?.score, more]).toEqual([1, []]);
  expect(other?.score).toBeLessThan(1);
  expect(await index.find('record', (name) => name === 'list_records')).toEqual([{ entry: 'list_records', score: 1 }]);
});

it('takes names of members of objects for words', async () => {
  const { find } = indexOf(['__proto__'], ['constructor'], ['toString', 'hasOwnProperty valueOf']);
  expect((await find('__proto__'))[0]).toBe('__proto__');
  expect((await find('constructor'))[0]).toBe('constructor');
  expect((await find('hasOwnProperty'))[0]).toBe('toString');
});
