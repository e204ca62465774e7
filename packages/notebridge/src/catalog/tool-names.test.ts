// @module-tag P-177

import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import { answer } from '@notebridge/protocol/core/middleware';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import { Hub } from '../hub.js';
import { ServerTools } from './server-tools.js';
import { ToolNames } from './tool-names.js';
import { createToolNaming } from './tool-naming.js';

const serverOf = (name: string, ...tools: string[]): MemoryToolServer =>
  new MemoryToolServer({ name, tools: tools.map((tool) => ({ name: tool, inputSchema: {}, run: async () => ({ content: [] }) })) });

describe('ToolNames', () => {
  it('gives each tool the name that agents see, and one that is not listed a name of its own', () => {
    const names = new ToolNames(new MemoryToolServers([serverOf('my.srv', 'files.read'), serverOf('my_srv', 'files_read')]));
    expect(names.nameOf({ server: 'my_srv', tool: 'files_read' })).toBe('my_srv__files_read');
    expect(names.nameOf({ server: 'my.srv', tool: 'files.read' })).toMatch(/^my_srv__files_read_\w{6}$/);
    const unlisted = names.nameOf({ server: 'my.srv', tool: 'files_read' });
    expect(unlisted).toMatch(/^my_srv__files_read_\w{6}$/);
    expect(unlisted).not.toBe(names.nameOf({ server: 'my.srv', tool: 'files.read' }));
    for (const [name, address] of names.direct) expect([names.nameOf(address), names.resolve(name)]).toEqual([name, address]);
  });

  it('follows the servers', () => {
    const servers = new MemoryToolServers([serverOf('a.b', 'x')]);
    const names = new ToolNames(servers);
    expect(names.nameOf({ server: 'a.b', tool: 'x' })).toBe('a_b__x');
    servers.add(serverOf('a_b', 'x'));
    expect(names.nameOf({ server: 'a.b', tool: 'x' })).not.toBe('a_b__x');
    expect(names.resolve('a_b__x')).toEqual({ server: 'a_b', tool: 'x' });
  });
});

describe('ToolNames over servers that count their changes', () => {
  it('looks at the servers again with another number, and not before', () => {
    const list = [serverOf('a.b', 'x')];
    let looks = 0;
    const all = (): ToolServer[] => {
      looks++;
      return list;
    };
    const servers = { all, get: () => undefined, subscribe: () => () => {}, revision: 1 };
    const names = new ToolNames(servers);
    const read = (): (string | undefined)[] => [...names.direct.keys()].sort();
    expect([read(), read(), looks]).toEqual([['a_b__x'], ['a_b__x'], 1]);
    list.push(serverOf('c', 'y'));
    expect(read()).toEqual(['a_b__x']);
    servers.revision++;
    expect([read(), looks]).toEqual([['a_b__x', 'c__y'], 2]);
  });
});

describe('createToolNaming', () => {
  it('shows the name of today for one that an agent has learnt before', async () => {
    const servers = new MemoryToolServers([serverOf('a.b', 'x')]);
    const tools = new ServerTools({ servers, logger: silentLogger });
    const hub = new Hub();
    const seen: [string, ToolAddress | undefined][] = [];
    hub.addMiddleware(createToolNaming(tools));
    hub.addMiddleware({
      onCallTool: async (context) => {
        seen.push([context.message.name, context.target]);
        return answer({});
      },
    });
    hub.addProvider(tools);
    const call = (name: string) => hub.request(createContext('tools/call', { name }));
    servers.add(serverOf('a_b', 'x'));
    await hub.request(createContext('tools/list'));
    const old = new ToolNames(servers).nameOf({ server: 'a.b', tool: 'x' });
    servers.remove('a_b');
    await call(old);
    await call('a_b__x');
    await call('get_cells');
    const today = ['a_b__x', { server: 'a.b', tool: 'x' }];
    expect(seen).toEqual([today, today, ['get_cells', undefined]]);
  });
});
