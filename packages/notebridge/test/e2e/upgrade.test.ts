// @module-tag deep
// @module-tag P-734

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EarlierProgram, earlierProgram } from '../support/earlier-program.js';
import { createHome } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const minutes = 60_000;

describe('the program of the commit before and this one, on one state folder', () => {
  let earlier: EarlierProgram | undefined;
  beforeAll(async () => {
    earlier = await earlierProgram();
  }, 20 * minutes);
  afterAll(() => earlier?.[Symbol.dispose]());

  it('take over from one another, there and back, side by side and under load', { timeout: 3 * minutes }, async ({ skip }) => {
    skip(earlier === undefined, 'this clone has no commit before');
    const command = earlier?.command ?? '';
    const own = createHome();
    const counted = join(own.home, 'count');
    const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), counted] } };
    const options = { servers, args: ['--notebook', 'none'] };

    await using before = await ServedHub.start({ ...options, own, command });
    const kept = await before.grant('--label', 'kept', '--allow', 'calls:*', '--calls', '100000');
    const revoked = await before.grant('--label', 'revoked', '--allow', 'calls:*');
    const owner = before.ownerToken;
    expect((await before.call('calls', 'echo', {}, revoked.token)).answer).toMatchObject({ success: true });

    const hubs: ServedHub[] = [before];
    using load = new Load(hubs, kept.token);
    const callers = [load.run(), load.run(), load.run(), load.run()];
    await load.untilAnswered(50);
    // Upgrade: the new one beside the old one, which drains then.
    await using after = await ServedHub.start(options, before);
    hubs.unshift(after);
    await load.untilAnswered(50);
    expect(await before.stop()).toBe(0);
    await load.untilAnswered(50);
    expect(after.ownerToken).toBe(owner);
    const later = await after.grant('--label', 'of the new one', '--allow', 'calls:*');
    expect((await after.run('grant', 'revoke', revoked.id, '--hub', 'second')).ending).toBe(0);
    // A hub looks at the file of grants four times a second.
    await expect.poll(async () => (await after.call('calls', 'echo', {}, revoked.token)).status).toBe(401);

    // Rollback, in the same way.
    await using again = await ServedHub.start({ ...options, own, command });
    hubs.unshift(again);
    await load.untilAnswered(50);
    expect(await after.stop()).toBe(0);
    await load.untilAnswered(50);
    expect((await again.call('calls', 'echo', {}, later.token)).answer).toMatchObject({ success: true });
    expect((await again.call('calls', 'echo', {}, revoked.token)).status).toBe(401);
    load[Symbol.dispose]();
    await Promise.all(callers);

    expect(load.failures).toEqual([]);
    // Each was made once, and is in the one audit.
    const ran = readFileSync(counted, 'utf8').match(/^count .*$/gm) ?? [];
    expect(new Set(ran).size).toBe(ran.length);
    expect(ran.length).toBeGreaterThanOrEqual(load.answered);
    expect(ran.length - load.answered).toBeLessThanOrEqual(load.unknown);
    const made = (): number => {
      const lines = readFileSync(join(before.stateDir, 'audit.jsonl'), 'utf8').split('\n');
      return lines.filter((line) => line.includes('"tool":"count"') && line.includes('"outcome":"ok"')).length;
    };
    // The last lines are written within 10 ms.
    await vi.waitFor(() => expect(made()).toBe(ran.length), { timeout: 10_000 });
  });
});

/** Callers that go to the next hub when one takes no calls. */
class Load implements Disposable {
  answered = 0;
  /** Whose connection ended: nobody can tell whether they were made. */
  unknown = 0;
  readonly failures: unknown[] = [];
  readonly #hubs: readonly ServedHub[];
  readonly #token: string;
  readonly #waiting = new Set<() => void>();
  #next = 0;
  #isStopped = false;

  constructor(hubs: readonly ServedHub[], token: string) {
    this.#hubs = hubs;
    this.#token = token;
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const n = ++this.#next;
      for (const hub of this.#hubs) {
        const outcome = await this.#call(hub, n);
        if (outcome === 'not made') continue;
        if (outcome === 'answered') this.answered++;
        else this.unknown++;
        break;
      }
      for (const look of [...this.#waiting]) look();
    }
  }

  /** Resolves when so many more were answered. */
  untilAnswered(more: number): Promise<void> {
    const wanted = this.answered + more;
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.answered < wanted) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
  }

  async #call(hub: ServedHub, n: number): Promise<'answered' | 'not made' | 'unknown'> {
    try {
      const { status, answer } = await hub.call('calls', 'count', { n }, this.#token);
      if (status === 503) return 'not made';
      if (answer.success !== true) this.failures.push([n, status, answer]);
      return 'answered';
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      return code === 'ECONNREFUSED' ? 'not made' : 'unknown';
    }
  }
}
