import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedHome, until } from '../support/broker.js';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

/** Answers the tool `get_cells` as the page of that name. */
const pageOf =
  (name: string) =>
  ({ method }: JsonObject): JsonObject | undefined =>
    method === 'tools/call' ? { result: { content: [{ type: 'text', text: `cells of ${name}` }] } } : undefined;

describe('a page that the broker holds', () => {
  let home: SharedHome;
  const programs: Program[] = [];

  const openAgent = async (where = 'colab'): Promise<Program> => {
    const program = await Program.open({ args: ['--hold', 'join', '--notebook', where], env: home.env });
    programs.push(program);
    return program;
  };
  const cells = async (program: Program): Promise<string> => JSON.stringify(await program.callTool('get_cells'));

  beforeEach(() => {
    home = new SharedHome();
  });
  afterEach(async () => {
    for (const program of programs.splice(0)) await program.close();
    await home[Symbol.asyncDispose]();
  });

  it('is there for the next agent when one ends, and comes back to the next broker when this one is killed', {
    tags: ['P-225'],
  }, async () => {
    const first = await openAgent();
    const { port, token } = await first.address();
    await using page = await RawPage.serve({ port, token, answer: pageOf('one') });
    expect(await cells(first)).toContain('cells of one');
    first.child.kill('SIGKILL');

    const second = await openAgent();
    expect(await cells(second)).toContain('cells of one');
    const killed = home.broker?.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    expect(await page.closed).toBe(1006);

    // The next call starts another broker, which has the port and the token of the one before. This page, as Colab's, does not dial by itself.
    const answer = await cells(second);
    // It may not have heard of the end yet: then that call was sent, and its outcome is unknown.
    const refused = answer.includes('ended while the call ran') ? await cells(second) : answer;
    expect(refused).toContain('reload the Google Colab tab');
    await until(() => home.broker !== undefined && home.broker.pid !== killed);
    await using back = await RawPage.serve({ port, token, answer: pageOf('one again') });
    expect(await cells(second)).toContain('cells of one again');
    expect(back.messages.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it('is one of several, each with its own agent and token, on one port', { tags: ['deep', 'P-273'] }, async () => {
    const [one, two] = [await openAgent(), await openAgent('https://github.com/o/r/blob/main/n.ipynb')];
    const addresses = [await one.address(), await two.address()] as const;
    expect(addresses[0].port).toBe(addresses[1].port);
    expect(addresses[0].token).not.toBe(addresses[1].token);
    await using first = await RawPage.serve({ ...addresses[0], answer: pageOf('one') });
    await using second = await RawPage.serve({ ...addresses[1], answer: pageOf('two') });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => cells(index % 2 === 0 ? one : two)));
    for (const [index, answer] of answers.entries()) expect(answer).toContain(index % 2 === 0 ? 'cells of one' : 'cells of two');
    expect([first, second].map(({ messages }) => messages.filter(({ method }) => method === 'tools/call').length)).toEqual([100, 100]);
  });
});
