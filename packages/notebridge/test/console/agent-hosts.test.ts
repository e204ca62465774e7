import { describe, expect, it } from 'vitest';
import { agentHosts } from '../../console-page/agent-hosts.js';
import { hosts } from '../../src/cli/setup/hosts.js';

const url = 'http://127.0.0.1:8765/mcp';

describe('the hosts that the console shows', () => {
  it('are those of `notebridge setup`, in its order', () => {
    expect(agentHosts.map(({ name, title, afterwards }) => ({ name, title, afterwards }))).toEqual(
      hosts.map(({ name, title, afterwards }) => ({ name, title, afterwards })),
    );
  });

  it.each(hosts)('have its settings and its command: $name', ({ name, format, scopes, connection }) => {
    const shown = agentHosts.find((host) => host.name === name);
    const text = shown?.snippet?.(url);
    const settings = text === undefined ? undefined : format.parse(text, name);
    const [container = ''] = scopes.user?.({ platform: 'linux', env: {}, project: '/' }).container ?? [];
    expect(settings).toEqual(connection && { [container]: { notebridge: connection.entry(url) } });
    expect(shown?.ownCommand?.(url)).toEqual(connection?.ownCommand?.(url, 'user'));
  });
});
