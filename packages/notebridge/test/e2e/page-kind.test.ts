// @module-tag deep

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { SharedHome } from '../support/broker.js';
import { buildChanged, type ChangedProgram } from '../support/changed-program.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { HubCluster } from '../support/hub-cluster.js';
import { natsProgram, whyNoNats } from '../support/nats.js';
import { addressIn, Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { addCell, notebookOf, playRunStory } from '../support/run-story.js';

const origin = 'https://stand-in.example';
const standIn = `import { colabProfile } from './colab.js';
import type { PageProfile } from './profile.js';

export const standInProfile: PageProfile = {
  name: 'stand-in',
  title: 'Stand-in',
  origins: ['${origin}'],
  defaultUrl: '${origin}/new',
  tools: colabProfile.tools,
  findUrl: (link) => (link.startsWith('${origin}/') ? link.replace(/#.*/, '') : undefined),
  links: { short: '${origin}', examples: 'one of ${origin}' },
  newUrl: (id) => \`${origin}/new?id=\${id}\`,
};
`;

/** The recipe "A kind of page": one file, and its name in the list. */
function addStandIn(src: string): void {
  writeFileSync(join(src, 'notebooks/profiles/stand-in.ts'), standIn);
  const list = join(src, 'notebooks/profiles/page-profiles.ts');
  const text = readFileSync(list, 'utf8');
  const named = text.replace('[colabProfile, ', '[colabProfile, standInProfile, ');
  expect(named).not.toBe(text);
  writeFileSync(list, `import { standInProfile } from './stand-in.js';\n${named}`);
}

const slow = 240_000;

describe('a new kind of page', { timeout: slow }, () => {
  let changed: ChangedProgram;
  beforeAll(async () => {
    changed = await buildChanged(addStandIn);
  }, slow);
  afterAll(() => changed?.[Symbol.dispose]());

  it('has the open tool, undo, runs and outputs within the budget', async () => {
    await using program = await Program.open({ command: changed.command, args: ['--notebook', 'stand-in'] });
    const { url, ...address } = await program.address();
    expect(url).toContain(`${origin}/new`);
    const page = createNodeColabPage({ ...address, origin });
    try {
      await program.notification('notifications/tools/list_changed');
      const call = notebookOf(program);
      await addCell(call, 'x');
      expect(await call('undo_last_change')).toMatchObject({ undone: { change: 'insert' } });
      await playRunStory(call);
      const cellId = await addCell(call, 'for i in range(20000): print("line", i)');
      expect(JSON.stringify(await call('run_code_cell', { cellId })).length).toBeLessThan(30_000);
      expect(JSON.stringify(await call('get_output', { cellId, from: -20 }))).toContain('19999');
    } finally {
      page.close();
    }
  });

  it('is held by the broker for several agents, of which one writes, and named by its links', async () => {
    await using home = new SharedHome();
    const open = (where: string, name: string): Promise<Program> =>
      Program.open({ command: changed.command, args: ['--hold', 'join', '--notebook', where], env: home.env, name });
    await using one = await open(`${origin}/a`, 'One');
    await using two = await open(`${origin}/a#x`, 'Two');
    const { url: _, ...address } = await one.address();
    const page = createNodeColabPage({ ...address, origin });
    try {
      await one.notification('notifications/tools/list_changed');
      expect(await addCell(notebookOf(one), '1')).not.toBe('undefined');
      expect(JSON.stringify(await two.callTool('get_cells'))).toContain('\\"1\\"');
      expect(JSON.stringify(await two.callTool('add_code_cell', { cellIndex: 0, language: 'python', code: '2' }))).toContain('One');
      const { notebooks } = await notebookOf(two)('list_notebooks');
      expect(notebooks).toMatchObject([{ kind: 'stand-in', location: `${origin}/a`, holder: 'One' }]);
    } finally {
      page.close();
    }
  });

  describe.skipIf(natsProgram === undefined)(`in a cluster${whyNoNats}`, () => {
    it('is one notebook for all hubs', async () => {
      await using cluster = await HubCluster.start({
        names: ['a', 'b'],
        command: changed.command,
        args: () => ['--notebook', 'stand-in', '--no-browser'],
      });
      const [a, b] = await Promise.all(
        ['a', 'b'].map((name) => openLegacyAgent(cluster.hub(name), () => cluster.hub(name).ownerToken, `agent of ${name}`)),
      );
      const call = async (agent: typeof a, name: string, args: JsonObject = {}): Promise<string> =>
        JSON.stringify((await agent?.('tools/call', { name, arguments: args }))?.result);
      const { token } = addressIn(await call(a, 'open_colab_browser_connection', { wait_seconds: 0 }));
      const answer = ({ method }: JsonObject) =>
        method === 'tools/call' ? { result: { content: [{ type: 'text', text: 'cells of the page' }] } } : undefined;
      const port = Number(new URL(cluster.hub('b').url).port);
      // It dials another hub than the one that opened it.
      await using _page = await RawPage.serve({ port, token, origin, answer });
      expect(await call(a, 'get_cells')).toContain('cells of the page');
      const listed = await call(b, 'list_notebooks');
      expect(listed).toContain('stand-in');
    });
  });
});
