import { expect, it } from 'vitest';
import { hostileServers } from '../../../notebridge/test/support/hostile-tools.js';
import type { BindingsInput } from '../model.js';
import { emitPython } from './emit-python.js';

const tool = { name: 'star_repo', description: 'Stars.', inputSchema: { type: 'object', properties: { owner: { type: 'string' } } } };
const input: BindingsInput = {
  servers: [
    { name: 'git-hub', description: 'A forge.', tools: [tool, { ...tool, name: 'un-star' }] },
    { name: 'other', description: undefined, tools: [] },
  ],
  skills: false,
  hubUrl: 'http://127.0.0.1:8765/api/v1/mcp/proxy',
};

it('the package has its files where the promise says', async () => {
  const { files } = await emitPython(input);
  const wanted = [
    '__init__.py',
    'client.py',
    'py.typed',
    '_manifest.json',
    'mcp/__init__.py',
    'mcp/git_hub/__init__.py',
    'servers/git_hub.py',
  ];
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([...wanted, 'mcp/git_hub/star_repo.py', 'mcp/git_hub/un_star.py', 'mcp/other/__init__.py']),
  );
  expect([...files.keys()].some((path) => path.startsWith('skills/'))).toBe(false);
  expect([...files.keys()]).toEqual([...files.keys()].sort());
});

it('the functions for skills are there where the hub has skills', async () => {
  const { files } = await emitPython({ ...input, skills: true });
  expect([...files.keys()]).toContain('skills/__init__.py');
});

it('the manifest has wire names, Python names and warnings', async () => {
  const { files, warnings } = await emitPython(input);
  const manifest = JSON.parse(files.get('_manifest.json') ?? '') as object;
  expect(manifest).toMatchObject({
    generator: expect.stringMatching(/^notebridge \d/),
    url: input.hubUrl,
    servers: [
      {
        name: 'git-hub',
        python: 'git_hub',
        tools: [
          { name: 'star_repo', python: 'star_repo' },
          { name: 'un-star', python: 'un_star' },
        ],
      },
      { name: 'other', python: 'other', tools: [] },
    ],
    warnings,
  });
  expect(warnings).toEqual([
    'The server "git-hub" is called git_hub in Python.',
    'The tool "un-star" of the server "git-hub" is called un_star in Python.',
  ]);
});

it('the same tools give the same bytes, also the most hostile', { tags: ['P-087'] }, async () => {
  const [one, other] = await Promise.all(
    [1, 2].map(() => emitPython({ servers: hostileServers({ seed: 5, schemas: 50 }), skills: true, hubUrl: undefined })),
  );
  expect(other).toEqual(one);
  const more = await emitPython({ ...input, servers: input.servers.slice(1) });
  expect(more.contentHash).not.toBe((await emitPython(input)).contentHash);
});

it('no file has a character that cannot be seen, or half of one', async () => {
  const { files } = await emitPython({ servers: hostileServers({ seed: 5, schemas: 50 }), skills: true, hubUrl: undefined });
  for (const [path, text] of files) expect(`${path}\n${text}`).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u);
});

it('a description of a megabyte is cut, and says so', async () => {
  const tools = [{ ...tool, description: 'x"""\\'.repeat(200_000) }];
  const { files } = await emitPython({ ...input, servers: [{ name: 'a', description: 'y'.repeat(1_000_000), tools }] });
  expect(files.get('mcp/a/star_repo.py')?.length).toBeLessThan(100_000);
  expect(files.get('mcp/a/star_repo.py')).toMatch(/… \(980000 more characters\)/);
});
