import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeAgent, codeDoors } from '../support/code-mode.js';
import { installedServer } from '../support/served-hub.js';

const slow = 120_000;
/** Other work of the machine makes no check too late. */
const notebridge = { codeMode: { typeCheckMs: 60_000 } };
const servers = () => ({ everything: installedServer('everything') });
const wrong = 'from generated.mcp.everything import echo\nawait echo(message="first")\nawait echo(text="second")';

describe.each(codeDoors)('code with an error over $name', ({ open, hasSession }) => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  let agent: CodeAgent;
  beforeAll(async () => {
    agent = await open({ folder, servers: servers(), notebridge });
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    'is answered before it runs, with the line and the signature, and runs under the same id when it is right',
    async () => {
      const refused = await agent.execute({ code: wrong, execution_id: 'one' });
      expect(refused).toMatchObject({ status: 'error', calls: 0, isError: true });
      expect(refused.texts).toEqual([
        [
          'TypeCheckError: Nothing was run: a type check found errors in the code before it began.',
          'line 3: No parameter named "text"',
          '    await echo(text="second")',
          '    the tool: everything.echo(*, message: str) -> Any',
        ].join('\n'),
        ...(hasSession ? [] : [expect.stringContaining('session: ')]),
        'No tool was called.',
      ]);
      const right = await agent.execute({ code: wrong.replace('text', 'message'), execution_id: 'one' });
      expect(right).toMatchObject({ status: 'ok', calls: 2, isError: false });
    },
    slow,
  );

  it(
    'names of earlier code of the session are no error, and have no types',
    async () => {
      const code = 'from generated.mcp.everything import echo\nkept = echo\nnumber = 5';
      const first = await agent.execute({ code, ...(hasSession ? {} : { session: 'new' }) });
      const again = hasSession ? {} : { session: first.session };
      const next = 'import generated\nassert number == 5\nawait kept(message=str(number))\nawait echo(message="b")';
      expect(await agent.execute({ code: next, ...again })).toMatchObject({ status: 'ok', calls: 2 });
      const unknown = await agent.execute({ code: 'import generated\nawait kept(text="b")', ...again });
      expect(unknown.texts.join()).toContain("unexpected keyword argument 'text'");
    },
    slow,
  );
});

describe('with "typeCheck": "off"', () => {
  it(
    'code runs as it is, until its error',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
      const [stdio] = codeDoors;
      const agent = await stdio?.open({ folder, servers: servers(), notebridge: { codeMode: { typeCheck: 'off' } } });
      const answer = await agent?.execute({ code: wrong });
      await agent?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
      expect(answer).toMatchObject({ status: 'error', calls: 1 });
      expect(answer?.texts.join()).toContain("unexpected keyword argument 'text'");
    },
    slow,
  );
});
