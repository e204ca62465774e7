import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import {
  currentSkillsServer,
  getSkillsProxyCaller,
  type SkillsProxyCaller,
  setSkillsProxyCaller,
  skillsServerFrom,
} from './proxy-caller.js';
import { createSkillsServer } from './skills-server.js';

afterEach(() => setSkillsProxyCaller(null));

const call = (server: ToolServer | undefined, name: string, args: JsonObject = {}, cancellation = new Cancellation()) => {
  const message = { name, arguments: args };
  return server?.request('tools/call', message, createContext('tools/call', message, { cancellation }));
};

describe('setSkillsProxyCaller', () => {
  it('has calls go to the function that was set, and back to ours', async () => {
    const own = createSkillsServer({ folders: [] });
    expect(currentSkillsServer(undefined)).toBeUndefined();
    expect(currentSkillsServer(own)).toBe(own);
    expect(getSkillsProxyCaller()).toBeNull();
    const caller: SkillsProxyCaller = async (toolName, args) => ({ toolName, args });
    setSkillsProxyCaller(caller);
    expect(getSkillsProxyCaller()).toBe(caller);
    expect(currentSkillsServer(undefined)).toBe(currentSkillsServer(own));
    const result = await call(currentSkillsServer(own), 'load_skill', { skill_name: 'x' });
    expect(result?.structuredContent).toEqual({ result: { toolName: 'skills__load_skill', args: { skill_name: 'x' } } });
    setSkillsProxyCaller(null);
    expect(getSkillsProxyCaller()).toBeNull();
    expect(currentSkillsServer(own)).toBe(own);
    await own.close();
  });
});

describe('skillsServerFrom', () => {
  it.each([['# Skills'], ['{"looks": "like JSON"}'], [null], [true], [['a', 'b']], [{ result: 1 }], [{ success: true, exit_code: 0 }]])(
    'gives %j as it is',
    async (value) => {
      const server = skillsServerFrom(() => value);
      const result = await call(server, 'list_skills');
      expect(result?.structuredContent).toEqual({ result: value });
      expect(result?.content).toEqual([{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }]);
    },
  );

  it('takes undefined for null, and passes tools of other names on', async () => {
    const server = skillsServerFrom((toolName) => (toolName === 'skills__mine' ? 'yes' : undefined));
    expect((await call(server, 'mine'))?.structuredContent).toEqual({ result: 'yes' });
    expect((await call(server, 'list_skills'))?.structuredContent).toEqual({ result: null });
    expect(server).toMatchObject({ name: 'skills', isConfig: false, expose: 'direct' });
    expect(await server.listTools()).toHaveLength(4);
  });

  it('gives an error of the function as a failed call', async () => {
    const server = skillsServerFrom(async (toolName) => {
      throw new Error(`Unknown skill tool: ${toolName}`);
    });
    expect(await call(server, 'mine')).toEqual({
      content: [{ type: 'text', text: 'Unknown skill tool: skills__mine' }],
      isError: true,
      _meta: { 'notebridge/error_code': 'skills_failed' },
    });
  });

  it('does not wait for the function once the call is cancelled', async () => {
    const cancellation = new Cancellation();
    const running = call(
      skillsServerFrom(() => new Promise(() => {})),
      'list_skills',
      {},
      cancellation,
    );
    cancellation.cancel('enough');
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  });
});
