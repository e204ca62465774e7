// @module-tag deep
// @module-tag P-559

import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { untilBrokerEnded } from '../support/broker.js';
import { openLegacyAgent, openModernAgent, type SendMessage } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { addressIn, Program } from '../support/program.js';

const colab = {
  a: 'https://colab.research.google.com/drive/one',
  b: 'https://colab.research.google.com/drive/two',
  c: 'https://colab.research.google.com/drive/three',
};

interface Entry extends JsonObject {
  id: string;
  kind: string;
  location: string | null;
}

async function call(agent: SendMessage, name: string, args: JsonObject = {}): Promise<{ text: string; isError: boolean }> {
  const { result, error } = await agent('tools/call', { name, arguments: args });
  if (result === undefined) return { text: JSON.stringify(error), isError: true };
  const content = result.content as { text?: string }[];
  return { text: content.map(({ text = '' }) => text).join('\n'), isError: result.isError === true };
}

async function entriesOf(agent: SendMessage): Promise<Entry[]> {
  return (JSON.parse((await call(agent, 'list_notebooks')).text) as { notebooks: Entry[] }).notebooks;
}

describe.skipIf(natsProgram === undefined)(
  `two agents, three Colab pages, a built-in notebook and one of JupyterLab, on three hubs${whyNoNats}`,
  () => {
    let lab: TestLab;
    let cluster: HubCluster;
    let opener: Program;
    const pages: { close(): void }[] = [];

    beforeAll(async () => {
      [lab, cluster] = await Promise.all([
        TestLab.start(),
        HubCluster.start({ args: () => ['--notebook', 'local', '--no-browser'], cluster: { drainMs: 1000 } }),
      ]);
    }, installTimeoutMs);
    afterAll(async () => {
      for (const page of pages) page.close();
      await opener?.close();
      const stateDirs = [...(cluster?.hubs.values() ?? [])].map(({ env }) => env.XDG_STATE_HOME ?? '');
      await Promise.all([...(cluster?.hubs.values() ?? [])].map((hub) => hub.run('stop', 'all', '--force')));
      await Promise.all(stateDirs.map((dir) => untilBrokerEnded(dir)));
      await cluster?.[Symbol.asyncDispose]();
      await lab?.close();
    });

    it('each call reaches the notebook that it names, and a killed hub is back with its own', async () => {
      const token = (name: string) => (): string => cluster.hub(name).ownerToken;
      /** Opens a page at its hub, as its person would, and leaves it to others. */
      for (const [name, url] of Object.entries(colab)) {
        const person = await openLegacyAgent(cluster.hub(name), token(name), 'Person');
        expect((await call(person, 'connect_notebook', { notebook: url })).text).toContain('"waiting"');
        const { result } = await person('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } });
        const page = createNodeColabPage(addressIn(result as JsonObject));
        pages.push(page);
        await page.whenState('connected');
        expect((await call(person, 'connect_notebook', { notebook: url })).text).toContain('"connected"');
      }
      await lab.write('lab.ipynb', [codeCell('one', 'a = 1')]);
      const where = `jupyter=${lab.baseUrl}lab/tree/lab.ipynb?token=${lab.token}`;
      opener = await Program.open({ args: ['--notebook', where], env: cluster.hub('b').env, name: 'Opener' });
      await opener.callTool('get_cells');

      const first = await openLegacyAgent(cluster.hub('a'), token('a'), 'First');
      const second = openModernAgent(cluster.hub('c'), token('c'));
      /** By the name that an agent of no hub would use. */
      const named = (entries: Entry[], home: string): Map<string, Entry> =>
        new Map(entries.map((entry) => [entry.id.includes('@') ? entry.id : `${entry.id}@${home}`, entry]));
      const seen = { first: named(await entriesOf(first), 'a'), second: named(await entriesOf(second), 'c') };
      expect([...seen.first.keys()].sort()).toEqual([...seen.second.keys()].sort());
      const wanted = [...seen.first].filter(([name, { kind }]) => kind !== 'built-in' || name.endsWith('@a'));
      expect(wanted.map(([, { kind }]) => kind).sort()).toEqual(['built-in', 'colab', 'colab', 'colab', 'jupyter']);

      const agents = { first, second };
      const idOf = (agent: 'first' | 'second', name: string): string => seen[agent].get(name)?.id ?? '';
      for (const [name] of wanted)
        for (const agent of ['first', 'second'] as const) {
          const connected = await call(agents[agent], 'connect_notebook', { notebook: idOf(agent, name) });
          expect(connected.text, `${agent} ${name}`).toContain('"connected"');
        }
      // Who writes first holds it; another is refused, wherever both are.
      for (const [at, [name]] of wanted.entries()) {
        const [writer, other] = at % 2 === 0 ? (['first', 'second'] as const) : (['second', 'first'] as const);
        const marked = await call(agents[writer], 'add_text_cell', { cellIndex: 0, content: `in ${name}`, notebook: idOf(writer, name) });
        expect(marked.isError, `${writer} ${name}: ${marked.text}`).toBe(false);
        const refused = await call(agents[other], 'add_text_cell', { cellIndex: 0, content: 'by another', notebook: idOf(other, name) });
        expect(refused.isError, `${other} ${name}: ${refused.text}`).toBe(true);
      }
      const wrong: string[] = [];
      const calls = Array.from({ length: 600 }, async (_, at) => {
        const [name] = wanted[at % wanted.length] as [string, Entry];
        const agent = at % 3 === 0 ? 'first' : 'second';
        const { text } = await call(agents[agent], 'get_cells', { notebook: idOf(agent, name) });
        const marks = text.match(/in nb\d+@[abc]/g);
        if (marks?.length !== 1 || marks[0] !== `in ${name}` || text.includes('by another')) wrong.push(`${name}: ${text.slice(0, 300)}`);
      });
      await Promise.all(calls);
      expect(wrong).toEqual([]);

      // A killed hub: what it held in itself is gone, what its user's broker holds is there again with it.
      const b = cluster.hub('b');
      await cluster.kill('b');
      await cluster.seen('a', ['c']);
      const ofB = wanted.filter(([name]) => name.endsWith('@b'));
      const gone = await call(first, 'get_cells', { notebook: idOf('first', ofB[0]?.[0] ?? '') });
      expect(gone.isError).toBe(true);
      await cluster.add('b', b);
      await cluster.seen('a', ['b', 'c']);
      for (const [name, { kind }] of ofB)
        for (const agent of ['first', 'second'] as const) {
          const cells = async () => (await call(agents[agent], 'get_cells', { notebook: idOf(agent, name) })).text;
          await expect.poll(cells, { message: `${agent} ${kind}` }).toContain(`in ${name}`);
        }
    }, 400_000);
  },
);
