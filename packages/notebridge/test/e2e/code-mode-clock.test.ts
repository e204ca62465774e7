// @module-tag deep
// @module-tag P-461

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { type Asked, type AskedAgentOptions, openAtHub } from '../support/asked-agent.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const slow = 240_000;
/**
 * The code has so long, which is enough on a busy machine, and the person takes longer: the clock of a hub, which is a program of its own, is
 * what is tested, so the person is waited for.
 */
const seconds = 8;
const takesMs = 10_000;

/** What each test alone has: they wait beside one another. */
class Shop implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  readonly #calls = join(this.folder, 'calls');
  readonly servers: ServersForTest = {
    shop: { command: process.execPath, args: [fixtureServer('approvals.mjs'), this.#calls], approve: 'destructive' },
    asks: { command: process.execPath, args: [fixtureServer('asks.mjs'), 'legacy'], approve: 'none', questions: 'serial' },
  };

  /** The calls that were made. */
  get made(): unknown[] {
    return linesOf(this.#calls).map((line) => JSON.parse(line));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function answerSlowly({ params }: Asked): Promise<JsonObject> {
  await new Promise((resolve) => setTimeout(resolve, takesMs));
  return String(params.message).includes('may this tool be called')
    ? { action: 'accept', content: { decision: 'once' } }
    : { action: 'accept', content: { name: 'Ada' } };
}
const refused = 'try:\n    await remove(id=7)\nexcept Exception as error:\n    print(error.code)';
const tooLate = (): Promise<JsonObject> => new Promise((resolve) => setTimeout(() => resolve({ action: 'cancel' }), 3 * takesMs));
const never = (_: Asked, signal: AbortSignal): Promise<JsonObject> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve({ action: 'cancel' }), { once: true }));

const open = async (
  { servers }: Shop,
  era: AskedAgentOptions['era'],
  answer: AskedAgentOptions['answer'] & object,
  notebridge: JsonObject = {},
) => {
  const hub = await ServedHub.start({ servers, notebridge, args: ['--code-mode', '--notebook', 'none'] });
  const agent = await openAtHub(hub, { era, answer });
  // What it imports, and a Python that has it, are there before the clock begins.
  const code = 'from generated.mcp.shop import remove\nfrom generated.mcp.asks import form';
  const session = /^session: (\S+)/m.exec(await agent.call('execute_code', { code, session: 'new' }))?.[1] ?? '';
  return {
    run: (lines: string) => agent.call('execute_code', { code: lines, session, timeout_seconds: seconds }),
    [Symbol.asyncDispose]: async () => {
      await agent.close();
      await hub[Symbol.asyncDispose]();
    },
  };
};

describe.concurrent.each(['legacy', 'modern'] as const)('the clock of code of a %s agent', (era) => {
  it(
    'stands while its person is asked whether a call may be made, and by a server',
    async () => {
      using shop = new Shop();
      await using opened = await open(shop, era, answerSlowly);
      expect(await opened.run('await remove(id=7)\n"removed"')).toContain("'removed'");
      expect(shop.made).toEqual([['remove', { id: 7 }]]);
      expect(await opened.run('await form()')).toContain('accept Ada');
      const late = await opened.run('await form()\nwhile True: pass');
      expect(late).toMatch(/interrupted after 8 s, .* \d+ s in which a person was asked are not counted/);
    },
    slow,
  );

  it(
    'goes on after what all questions together may take',
    async () => {
      // An agent that is asked by an answer to its call comes back when it likes.
      using shop = new Shop();
      await using opened = await open(shop, era, era === 'legacy' ? never : tooLate, { codeMode: { askedSeconds: 2 } });
      expect(await opened.run(`${refused}\nwhile True: pass`)).toMatch(/interrupted after 8 s, .* [2-9] s in which a person was asked/);
      expect(shop.made).toEqual([]);
    },
    slow,
  );
});

it.concurrent(
  'goes on after the time for one question',
  async () => {
    using shop = new Shop();
    await using opened = await open(shop, 'legacy', never, { limits: { answerTimeoutMs: 2000 } });
    expect(await opened.run(`${refused}\nwhile True: pass`)).toMatch(/^not_approved[^]*interrupted after 8 s, .* [2-9] s in which/);
    expect(shop.made).toEqual([]);
  },
  slow,
);

it.concurrent(
  'stands while the owner is asked, whose agent shows no forms',
  async () => {
    using shop = new Shop();
    await using hub = await ServedHub.start({ servers: shop.servers, args: ['--code-mode', '--notebook', 'none'] });
    const agent = await openAtHub(hub, { era: 'legacy', capabilities: {} });
    try {
      await agent.call('execute_code', { code: 'from generated.mcp.shop import remove' });
      const code = 'await remove(id=7)\n"removed"';
      const answer = agent.call('execute_code', { code, timeout_seconds: seconds });
      await hub.until(() => hub.log().some(({ msg }) => String(msg).startsWith('A call waits for your approval')));
      await new Promise((resolve) => setTimeout(resolve, takesMs));
      const { approvals } = JSON.parse((await hub.run('approvals', '--json')).stdout) as { approvals: { id: string }[] };
      await hub.run('approvals', '--approve', String(approvals[0]?.id));
      expect(await answer).toContain("'removed'");
      expect(shop.made).toEqual([['remove', { id: 7 }]]);
    } finally {
      await agent.close();
    }
  },
  slow,
);
