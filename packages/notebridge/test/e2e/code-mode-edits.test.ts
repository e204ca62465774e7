// @module-tag deep

import { expect, it } from 'vitest';
import { openModernAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

it('code mode that the command line asks for is no edit of the config, and holds for servers that an edit brings', async () => {
  const notes = { command: process.execPath, args: [fixtureServer('changing.mjs'), '1', 'silently'] };
  await using hub = await ServedHub.start({ servers: { notes }, args: ['--notebook', 'none', '--code-mode'] });
  hub.writeConfig({ notes, more: notes });
  const exposed = async (): Promise<unknown> => {
    const response = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
    const { servers } = (await response.json()) as { servers: { name: string; is_config: boolean; expose: string }[] };
    return servers.filter((server) => server.is_config).map(({ name, expose }) => [name, expose]);
  };
  await hub.logged('The config was changed.');
  await expect.poll(exposed).toEqual([
    ['notes', 'code'],
    ['more', 'code'],
  ]);
  expect(hub.log().filter(({ msg }) => msg === 'The config was changed.')).toHaveLength(1);
  expect(hub.stderr).not.toContain('hold after a restart');
  const { token } = await hub.grant('--agent');
  const { result = {} } = await openModernAgent(hub, () => token)('tools/list');
  expect((result.tools as { name: string }[]).map(({ name }) => name).sort()).toEqual(['describe_tools', 'execute_code', 'search_tools']);
});
