import { describe, expect, it } from 'vitest';
import { matchTemplate } from './uri-template.js';

describe('matchTemplate', () => {
  it.each([
    ['note://{id}', 'note://7', { id: '7' }],
    ['note://{book}/{id}.md', 'note://a%20b/7.md', { book: 'a b', id: '7' }],
    ['note://{id}', 'note://%zz', { id: '%zz' }],
    ['note://{id}', 'note://', undefined],
    ['note://{id}', 'note://a/b', undefined],
    ['note://{id}', 'other://a', undefined],
    ['note://a.b/{id}', 'note://axb/1', undefined],
    ['note://{id}', 'note://{id}', { id: '{id}' }],
    ['note://{a}{b}', 'note://xx', { a: 'x', b: 'x' }],
  ])('reads %j from %j as %j', (template, uri, values) => {
    expect(matchTemplate(template, uri)).toEqual(values);
  });

  it('refuses what is more than a name', () => {
    expect(() => matchTemplate('note://{+path}', 'note://a')).toThrow('"note://{+path}" has "{+path}"');
  });
});
