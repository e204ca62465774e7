import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ForeignReply, type ForeignRequest, nobody, requestAs, stranger, whyNoOther } from '../support/other-user.js';
import { Program, runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';

const colab = 'https://colab.research.google.com';
const codeIn = (address: string): string => new URL(address).hash.replace(/^#\w+=/, '');

describe.skipIf(whyNoOther !== undefined)(`another user of the machine${whyNoOther === undefined ? '' : ` (${whyNoOther})`}`, () => {
  let folder: string;
  let hub: ServedHub;
  let agent: Program;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'attacked-address-'));
    hub = await ServedHub.start({ args: ['--notebook', join(folder, 'a.ipynb')] });
    agent = await Program.open();
  });
  afterAll(async () => {
    await agent?.close();
    await hub?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Each with what lets its own user in by the same address. */
  const doors: Record<string, () => Promise<ForeignRequest>> = {
    console: async () => {
      const answer = await hub.request('/api/v1/hub/console/links', { method: 'POST', token: hub.ownerToken, body: {} });
      const { address } = (await answer.json()) as { address: string };
      return { url: new URL('/console/enter', address).href, method: 'POST', headers: { authorization: `Bearer ${codeIn(address)}` } };
    },
    window: async () => {
      const ask = async (path: string, body?: object) =>
        (await (await hub.request(`/api/v1/hub/notebooks${path}`, { token: hub.ownerToken, body })).json()) as {
          address: string;
          notebooks: { id: string }[];
        };
      const { address } = await ask(`/${(await ask('')).notebooks[0]?.id}/address`, {});
      const { origin, hash } = new URL(address);
      return { url: `${origin}/enter`, method: 'POST', headers: { origin }, body: hash.slice('#token='.length) };
    },
    '/connect': async () => {
      const text = JSON.stringify(await agent.callTool('open_colab_browser_connection', { wait_seconds: 0 }));
      const address = /http:\/\/localhost:\d+\/connect#code=[\w-]+/.exec(text)?.[0] ?? '';
      return { url: new URL('/connect/enter', address).href, headers: { authorization: `Bearer ${codeIn(address)}` } };
    },
    page: async () => {
      const { token, port } = await agent.address();
      const key = 'AAAAAAAAAAAAAAAAAAAAAA==';
      const webSocket = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key };
      const headers = { ...webSocket, origin: colab, 'sec-websocket-protocol': 'mcp' };
      return { url: `http://localhost:${port}/?access_token=${token}`, headers };
    },
  };
  const isIn = ({ status }: ForeignReply): boolean => status === 200 || status === 101;

  it.each(Object.keys(doors))('gets in by none of 25 addresses: %s', { tags: ['P-645'] }, async (door) => {
    const steal = doors[door] as () => Promise<ForeignRequest>;
    const stolen: ForeignRequest[] = [];
    for (let count = 0; count < 25; count++) stolen.push(await steal());
    const replies = await requestAs(nobody, stolen);
    expect(replies.filter(isIn)).toEqual([]);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([403]));
    // Nor does an address end by that.
    const last = stolen.at(-1) as ForeignRequest;
    const [own] = await requestAs(0, [last]);
    expect(own).toMatchObject({ status: door === 'page' ? 101 : 200 });
  });

  it('types a code, once, and its pages connect then, while those of others do not', { tags: ['P-646'] }, async () => {
    const typed = async (stateHome = ''): Promise<string> =>
      (await runProgram(['code'], { env: { XDG_STATE_HOME: stateHome } })).stdout.trim();
    const [byConsole, byWindow, byConnect, page] = (await Promise.all(
      ['console', 'window', '/connect', 'page'].map((door) => (doors[door] as () => Promise<ForeignRequest>)()),
    )) as [ForeignRequest, ForeignRequest, ForeignRequest, ForeignRequest];
    const [atHub, atWindow, atAgent] = [
      await typed(hub.env.XDG_STATE_HOME),
      await typed(hub.env.XDG_STATE_HOME),
      await typed(agent.stateHome),
    ];
    const withBearer = (request: ForeignRequest, code: string): ForeignRequest => ({
      ...request,
      headers: { authorization: `Bearer ${code}` },
    });
    const replies = await requestAs(nobody, [
      withBearer(byConsole, atHub),
      withBearer(byConsole, atHub),
      { ...byWindow, body: atWindow },
      page,
      withBearer(byConnect, atHub),
      withBearer(byConnect, atAgent),
      page,
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 410, 200, 403, 403, 200, 101]);
    expect((await requestAs(stranger, [page])).map(({ status }) => status)).toEqual([403]);
    expect(agent.stderr + hub.stderr).not.toContain(atAgent);
  });
});
