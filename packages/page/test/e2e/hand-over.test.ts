// @module-tag deep
// @module-tag P-327

import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { SharedHome, until } from '../../../notebridge/test/support/broker.js';
import { Program } from '../../../notebridge/test/support/program.js';
import type { HandOverRequest, PageSession, PageSessionOptions } from '../../src/index.js';
import { stateOf } from '../support/bounded.js';
import { ExamplePage, hasChromium } from '../support/browser.js';
import { createAddressBar, createNodePage } from '../support/node-page.js';

const origin = 'https://page.example';
const textOf = ({ result }: JsonObject): string => (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n');
const heldBy = (name: string): unknown => expect.stringContaining(`Another agent, \\"${name}\\", holds this notebook`);

describe('agents on a page that can ask its person', () => {
  let home: SharedHome;
  const open: AsyncDisposable[] = [];
  const sessions: PageSession[] = [];

  beforeEach(() => {
    home = new SharedHome();
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  const openAgent = async (name: string, allowed = origin): Promise<Program> => {
    const program = await Program.open({ args: ['--hold', 'join', '--allow-origin', allowed], env: home.env, name });
    open.push(program);
    return program;
  };
  /** Another agent, on the notebook of the first. */
  const joinAgent = async (name: string, first: Program, allowed = origin): Promise<Program> => {
    const agent = await openAgent(name, allowed);
    const { notebooks } = JSON.parse(textOf(await first.callTool('list_notebooks'))) as { notebooks: { id: string; selected: boolean }[] };
    await agent.callTool('connect_notebook', { notebook: notebooks.find(({ selected }) => selected)?.id });
    return agent;
  };
  const openPage = async (agent: Program, options: Partial<PageSessionOptions>): Promise<PageSession> => {
    // While the page before is still being missed, there is nothing to open.
    let url: string | undefined;
    await until(async () => {
      const answer = await agent.callTool('open_colab_browser_connection', { notebook_url: `${origin}/`, wait_seconds: 0 });
      url = /https:\/\/page\.example\/[^\s"\\]*#mcpProxyToken=[\w-]+&mcpProxyPort=\d+/.exec(JSON.stringify(answer))?.[0];
      return url !== undefined;
    });
    const session = createNodePage({ ...createAddressBar(url ?? ''), tools: [{ name: 'draw', run: () => 'drawn' }], ...options });
    sessions.push(session);
    await session.connect();
    return session;
  };
  const draw = async (agent: Program): Promise<string> => JSON.stringify(await agent.callTool('draw'));

  it('the page is asked with what agents say, cleaned; what nobody wants any more is taken back', async () => {
    const asked: HandOverRequest[] = [];
    let answer: (yes: unknown) => void = () => {};
    const handOver = (request: HandOverRequest): Promise<boolean> => {
      asked.push(request);
      return new Promise((resolve) => {
        answer = resolve as (yes: unknown) => void;
      });
    };
    const first = await openAgent('First agent');
    const session = await openPage(first, { handOver });
    expect(await draw(first)).toContain('drawn');
    const second = await joinAgent('Second\u202e agent', first);
    expect(await draw(second)).toEqual(heldBy('First agent'));

    const taking = second.callTool('take_over', { reason: `the plot\n${'x'.repeat(300)}` });
    await expect.poll(() => asked.length).toBe(1);
    expect(asked[0]).toMatchObject({ page: 'test-page', agent: 'Second agent', holder: 'First agent' });
    expect(asked[0]?.reason).toMatch(/^the plotx{150,191}$/);
    answer(true);
    expect(JSON.parse(textOf(await taking))).toMatchObject({ status: 'yours' });
    expect(await draw(second)).toContain('drawn');
    expect(await draw(first)).toContain('holds this notebook');

    // Only "true" is a yes.
    const again = first.callTool('take_over');
    await expect.poll(() => asked.length).toBe(2);
    answer('yes');
    expect(textOf(await again)).toContain('The person said no.');

    // The page goes while it asks: the question stays for the next one.
    const third = await joinAgent('Third agent', first);
    const late = third.callTool('take_over');
    await expect.poll(() => asked.length).toBe(3);
    session.disconnect();
    await expect.poll(() => asked[2]?.signal.aborted).toBe(true);
    const next = await openPage(first, { handOver });
    await expect.poll(() => asked.length).toBe(4);
    expect(asked[3]).toMatchObject({ agent: 'Third agent' });
    // Its holder ends: the one that asks has it, and nobody has to answer any more.
    second.child.kill('SIGKILL');
    expect(JSON.parse(textOf(await late))).toMatchObject({ status: 'yours' });
    await expect.poll(() => asked[3]?.signal.aborted).toBe(true);
    expect(next.state.status).toBe('connected');
    expect(await draw(third)).toContain('drawn');
  });

  it('a page that can ask nobody is not asked, and the agent is told what else there is', async () => {
    const first = await openAgent('First agent');
    const session = await openPage(first, {});
    await stateOf(session, 'connected');
    expect(await draw(first)).toContain('drawn');
    const second = await joinAgent('Second agent', first);
    expect(textOf(await second.callTool('take_over'))).toMatch(/Nobody can be asked.*notebridge release nb\d+/);
  });

  it('a person in Chromium is asked in a dialog, whose safe answer has the focus', drivesBrowser, async ({ skip }) => {
    skip(!hasChromium, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const example = await ExamplePage.launch();
    open.push(example);
    const first = await openAgent('First agent', example.origin);
    const { page } = example;
    await example.open(await first.address());
    await example.button('Allow').click();
    await example.says('Connected to notebridge');
    const stroke = {
      strokes: [
        {
          points: [
            [10, 10],
            [700, 10],
          ],
          color: 'teal',
        },
      ],
    };
    expect(await first.callTool('draw', stroke)).toMatchObject({ result: { structuredContent: { drawn: 1 } } });
    const second = await joinAgent('Second agent', first, example.origin);
    const third = await joinAgent('Third agent', first, example.origin);

    const taking = second.callTool('take_over', { reason: '<b>the plot</b>' });
    const dialog = page.getByRole('dialog', { name: '“Second agent” asks to change and run “Drawing board”' });
    await dialog.waitFor();
    expect(await dialog.textContent()).toContain('It says: “<b>the plot</b>”Now “First agent” holds it; what runs goes on.');
    expect(await page.locator('button:focus').textContent()).toBe('No');
    await example.button('Hand it over').click();
    expect(JSON.parse(textOf(await taking))).toMatchObject({ status: 'yours' });
    expect(await second.callTool('draw', stroke)).toMatchObject({ result: { structuredContent: { drawn: 1 } } });

    // Asked, and reloaded: the page asks again.
    const waiting = third.callTool('take_over');
    const other = page.getByRole('dialog', { name: '“Third agent” asks' });
    await other.waitFor();
    await page.reload();
    await other.waitFor();
    await page.keyboard.press('Escape');
    expect(textOf(await waiting)).toContain('The person said no.');
    await other.waitFor({ state: 'detached' });
    expect(example.complaints).toEqual([]);
  });
});
