// @module-tag deep
// @module-tag P-273

import { readFileSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { launchColabBrowser } from '../fixtures/colab-page/chromium.js';
import { serveColabPage } from '../fixtures/colab-page/serve.js';
import { isAlive, SharedHome, until } from '../support/broker.js';
import { addressIn, Program } from '../support/program.js';

const timeout = 300_000;
const colab = ['one', 'two', 'three'].map((name) => `https://colab.research.google.com/drive/${name}`);

interface Entry extends JsonObject {
  id: string;
  kind: string;
  location: string;
}

async function call(program: Program, name: string, args: JsonObject = {}): Promise<{ text: string; isError: boolean }> {
  const { result } = (await program.callTool(name, args)) as { result: { content: { text: string }[]; isError?: boolean } };
  return { text: result.content.map(({ text }) => text).join('\n'), isError: result.isError === true };
}

async function entriesOf(program: Program): Promise<Entry[]> {
  return (JSON.parse((await call(program, 'list_notebooks')).text) as { notebooks: Entry[] }).notebooks;
}

describe('two agents, three Colab pages, a built-in notebook and one of JupyterLab, on one broker', () => {
  let lab: TestLab;
  let browser: Awaited<ReturnType<typeof launchColabBrowser>> | undefined;
  let site: Awaited<ReturnType<typeof serveColabPage>>;

  beforeAll(async () => {
    if (findChromium() === undefined) return;
    [lab, site] = await Promise.all([TestLab.start(), serveColabPage()]);
    browser = await launchColabBrowser({ pagePort: site.port, publicAddress: true, grantLocalNetwork: true });
  }, installTimeoutMs);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await lab?.close();
  });

  it('each call reaches the notebook that it names; none is guessed; a killed broker is back within the next call', {
    ...drivesBrowser,
    timeout,
  }, async ({ skip }) => {
    if (browser === undefined) return skip('no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const { open } = browser;
    await lab.write('lab.ipynb', [codeCell('one', 'a = 1')]);
    await using home = new SharedHome();
    const where = `jupyter=${lab.baseUrl}lab/tree/lab.ipynb?token=${lab.token}`;
    await using first = await Program.open({ args: ['--notebook', 'built-in.ipynb'], env: home.env, cwd: home.folder, name: 'First' });
    await using second = await Program.open({ args: ['--notebook', where], env: home.env, cwd: home.folder, name: 'Second' });
    await call(second, 'get_cells');

    // Each page is asked for by its URL; a person opens it and agrees.
    const openPage = async (url: string, agent: Program): Promise<void> => {
      const connecting = call(agent, 'connect_notebook', { notebook: url });
      const { text } = await connecting;
      expect(text).toContain('"waiting"');
      const shown = addressIn(await agent.callTool('open_colab_browser_connection', { wait_seconds: 0 }));
      const page = await open(shown.url);
      await page.locator('dialog.local-mcp-connect-dialog button', { hasText: 'Connect' }).click();
      expect((await call(agent, 'connect_notebook', { notebook: url })).text).toContain('"connected"');
    };
    for (const [at, url] of colab.entries()) await openPage(url, at === 1 ? second : first);

    const entries = await entriesOf(first);
    expect(entries.map(({ kind }) => kind).sort()).toEqual(['built-in', 'colab', 'colab', 'colab', 'jupyter']);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(5);
    expect((await entriesOf(second)).map(({ id }) => id).sort()).toEqual(entries.map(({ id }) => id).sort());

    const ofSecond = new Set(entries.filter(({ kind, location }) => kind === 'jupyter' || location === colab[1]).map(({ id }) => id));
    // Who writes first holds it; another is told who, and nothing is done.
    for (const { id } of entries) {
      const [writer, other] = ofSecond.has(id) ? [second, first] : [first, second];
      const marked = await call(writer, 'add_text_cell', { cellIndex: 0, content: `in ${id}`, notebook: id });
      expect(marked.isError, marked.text).toBe(false);
      const refused = await call(other, 'add_text_cell', { cellIndex: 0, content: 'by another', notebook: id });
      expect(refused.isError).toBe(true);
      expect(refused.text).toContain(writer === first ? 'First' : 'Second');
    }
    const wrong: string[] = [];
    const calls = Array.from({ length: 1000 }, async (_, at) => {
      const { id } = entries[at % entries.length] as Entry;
      const { text } = await call(at % 3 === 0 ? first : second, 'get_cells', { notebook: id });
      const marks = text.match(/in nb\d+/g);
      if (marks?.length !== 1 || marks[0] !== `in ${id}` || text.includes('by another')) wrong.push(`${id}: ${text.slice(0, 300)}`);
    });
    await Promise.all(calls);
    expect(wrong).toEqual([]);

    // Without a selection nothing is guessed: the answer lists what there is.
    await call(first, 'disconnect_notebook');
    const unclear = await call(first, 'get_cells');
    expect(unclear.isError).toBe(true);
    expect(unclear.text).toContain(home.path('built-in.ipynb'));

    await until(() => readFileSync(home.path('built-in.ipynb'), 'utf8').includes('in nb'));
    const { pid = 0 } = home.broker ?? {};
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
    const builtIn = entries.find(({ kind }) => kind === 'built-in') as Entry;
    const jupyter = entries.find(({ kind }) => kind === 'jupyter') as Entry;
    expect((await call(first, 'connect_notebook', { notebook: builtIn.location })).text).toContain(`"${builtIn.id}"`);
    expect((await call(first, 'get_cells')).text).toContain(`in ${builtIn.id}`);
    expect((await call(second, 'connect_notebook', { notebook: jupyter.location })).text).toContain('"connected"');
    expect((await call(second, 'get_cells')).text).toContain(`in ${jupyter.id}`);
  });
});
