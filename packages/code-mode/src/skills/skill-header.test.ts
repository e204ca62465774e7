import { describe, expect, it } from 'vitest';
import { parseSkillFile } from './skill-header.js';

const parse = (head: string, body = 'Body') => parseSkillFile(`---\n${head}\n---\n${body}`, 'pdf').header;

describe('parseSkillFile', () => {
  it('reads every field of the format', () => {
    const head = [
      'name: pdf',
      'description: Fills in forms.',
      'license: MIT',
      'compatibility: Needs poppler',
      'metadata:\n  author: me',
      'allowed-tools: Bash(git add:*) Read',
    ].join('\n');
    expect(parse(head)).toEqual({
      name: 'pdf',
      description: 'Fills in forms.',
      license: 'MIT',
      compatibility: 'Needs poppler',
      metadata: { author: 'me' },
      allowedTools: ['Bash(git add:*)', 'Read'],
      others: {},
      problems: [],
    });
  });

  it('keeps the fields of older skills', () => {
    const header = parse('name: pdf\ndescription: d\nversion: 1.0.0\ntags: [a, b]\nallowed-tools: [Read, Grep]\ndenied-tools: Bash');
    expect(header.others).toEqual({ version: '1.0.0', tags: ['a', 'b'], 'denied-tools': 'Bash' });
    expect(header.allowedTools).toEqual(['Read', 'Grep']);
    expect(parse('name: pdf\ndescription: d\nallowed-tools: Read, Bash(a, b)').allowedTools).toEqual(['Read', 'Bash(a, b)']);
  });

  it('helps itself where something is missing, and says so', () => {
    expect(parse('license: MIT', '# Title\n\nFills in\nforms.\n\nMore.')).toMatchObject({
      name: 'pdf',
      description: 'Fills in forms.',
      problems: ['has no "name"; that of the folder is used', 'has no "description"; the first paragraph is used'],
    });
  });

  it.each([
    ['name: PDF Forms', 'PDF Forms', 2],
    ['name: other', 'other', 1],
    ['name: a/b', 'pdf', 1],
    [`name: ${'x'.repeat(65)}`, 'pdf', 1],
  ])('reports %j and goes by the name "%s"', (line, name, count) => {
    const header = parse(`${line}\ndescription: d`);
    expect(header.name).toBe(name);
    expect(header.problems).toHaveLength(count);
  });
});
