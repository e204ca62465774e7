// @module-tag deep
// @module-tag P-491

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spellingsOf } from '../../console-page/try-out/same-call.js';
import { programFile } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const run = promisify(execFile);
const args = {
  text: `it's "quoted" $HOME \`id\` \\ é 😀`,
  hidden: 'a\u202eb\u200bc\nd\u0007',
  exact: 1,
};
const json = JSON.stringify(args, undefined, 2).replace('"exact": 1', '"exact": 12345678901234567890');

describe('a call as the console gives it to copy', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({
      servers: {
        notes: { command: process.execPath, args: [fixtureServer('calls.mjs'), '/dev/null'] },
        evil: { command: process.execPath, args: [fixtureServer('against-console.mjs')] },
      },
      args: ['--notebook', 'none'],
    });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const texts = (): Map<string, string> =>
    new Map(spellingsOf({ origin: new URL(hub.url).origin, server: 'notes', tool: 'echo', json }).map(({ title, text }) => [title, text]));
  /** Types it into a shell of the user. */
  const type = async (text: string): Promise<string> => {
    const script = `notebridge() { ${process.execPath} ${programFile} "$@"; }\n${text}`;
    return (await run('sh', ['-c', script], { env: hub.env })).stdout;
  };

  it('runs in a shell, every character and digit kept', async () => {
    const said = await type(texts().get('curl') ?? '');
    expect(JSON.parse(said)).toMatchObject({ success: true, result: { text: args.text, hidden: args.hidden } });
    expect(await type(`${texts().get('notebridge call')} --json`)).toContain('"success":true');
    // The server under test is JavaScript, and rounds them.
    for (const text of texts().values()) expect(text).toContain('12345678901234567890');
  });

  it('runs in Python', async () => {
    const { token } = await hub.grant('--allow', 'notes:echo');
    const { stdout } = await run('python3', ['-c', texts().get('Python') ?? ''], {
      env: { ...hub.env, NOTEBRIDGE_TOKEN: token, PYTHONIOENCODING: 'utf-8' },
    });
    expect(stdout).toContain('$HOME `id`');
  });

  it('runs in TypeScript', async () => {
    const { token } = await hub.grant('--allow', 'notes:echo');
    const text = texts().get('TypeScript') ?? '';
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    const { outputText, diagnostics } = ts.transpileModule(text, { compilerOptions, reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', outputText], {
      env: { ...hub.env, NOTEBRIDGE_TOKEN: token },
    });
    expect(stdout).toContain('$HOME `id`');
  });

  it('takes no name of a tool for an option of the command, nor for a pattern of a grant', { tags: ['P-518'] }, async () => {
    const folder = mkdtempSync(join(hub.home, 'shell-'));
    const ofTool = (server: string, tool: string): Map<string, string> =>
      new Map(spellingsOf({ origin: hub.url, server, tool, json: '{}' }).map(({ title, text }) => [title, text]));
    const command = ofTool('evil', `-o${folder}/profile`).get('notebridge call') ?? '';
    const script = `notebridge() { ${process.execPath} ${programFile} "$@"; }\n${command}`;
    await expect(run('sh', ['-c', script], { env: hub.env })).rejects.toThrow(/profile/);
    expect(readdirSync(folder)).toEqual([]);
    for (const [tool, pattern] of Object.entries({ 'a,*:*': 'evil:*', 'a\u202eb': 'evil:*', plain: 'evil:plain' }))
      expect(ofTool('evil', tool).get('curl')).toContain(`--allow '${pattern}')`);
  });

  it('shows every character, has no token in it, and no name in a shell that cannot be seen whole', () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there.
    for (const text of texts().values()) expect(text).not.toMatch(/[\u202e\u200b\u0007]|nb[a-z]?_/);
    const odd = spellingsOf({ origin: 'http://127.0.0.1:1', server: 'notes', tool: 'a\u202eb', json: '{}' });
    expect(odd.map(({ title }) => title)).toEqual(['curl', 'Python', 'TypeScript']);
    for (const { text } of odd) expect(text).not.toContain('\u202e');
  });
});
