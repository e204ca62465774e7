// @module-tag deep

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { natsServer, whyNoNatsServer } from '../../../../scripts/nats-server.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { Machines, whyNoMachines } from '../support/cluster-namespaces.js';
import { SpreadNats } from '../support/spread-nats.js';

const program = await natsServer();
const why = whyNoMachines ?? (program === undefined ? whyNoNatsServer : undefined);
if (why !== undefined) process.stderr.write(`tests: no machines in network namespaces, since ${why}\n`);
const names = ['n1', 'n2', 'n3'];

let folder: string;
let machines: Machines;
let nats: SpreadNats;

describe.skipIf(why !== undefined)('a cluster of NATS on three machines', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-machines-'));
    machines = await Machines.open(...names, 'agents');
    nats = new SpreadNats(machines, { program: program ?? '', folder, names });
    await nats.start();
  });
  afterAll(async () => {
    await machines?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on at two of them while one is cut off, and that one has all of it afterwards', async () => {
    const clients = new Map(names.map((name) => [name, new StoreClient(name)]));
    const at = (name: string): StoreClient => clients.get(name) as StoreClient;
    await until(() => at('n1').ask({ do: 'open' }), isAnswered);
    for (const name of ['n2', 'n3']) expect(await at(name).ask({ do: 'open' })).toHaveProperty('value');
    expect(await at('n1').ask({ do: 'put', key: 'before', value: '1' })).toHaveProperty('value');

    await machines.cut('n1');
    for (const name of ['n2', 'n3']) await until(() => at(name).ask({ do: 'put', key: `from-${name}`, value: '2' }), isAnswered);
    expect(await at('n1').ask({ do: 'put', key: 'from-n1', value: '3' })).toHaveProperty('error');

    await machines.join('n1');
    await until(
      () => at('n1').ask({ do: 'get', key: 'from-n2' }),
      ({ value }) => value === '2',
    );
    await until(() => at('n1').ask({ do: 'put', key: 'after', value: '4' }), isAnswered);
    for (const client of clients.values()) await client.end();
  });

  it('goes on when one of its servers is killed, and takes it back', async () => {
    const client = new StoreClient('n2');
    await until(() => client.ask({ do: 'open' }), isAnswered);
    await nats.kill('n3');
    await until(() => client.ask({ do: 'put', key: 'two', value: '2' }), isAnswered);
    await nats.start('n3');
    await nats.kill('n1');
    await until(() => client.ask({ do: 'put', key: 'two', value: '3' }), isAnswered);
    await nats.start('n1');
    await client.end();
  });

  it('has two machines lose sight of each other while a third sees both', async () => {
    const reaches = async (from: string, to: string): Promise<boolean> => {
      const { address } = machines.get(to);
      const script = `require('node:net').connect({host:'${address}',port:4222,timeout:10000}).once('connect',()=>process.exit(0)).once('timeout',()=>process.exit(1)).once('error',()=>process.exit(1))`;
      const child = machines.spawn(from, [process.execPath, '-e', script], { stdio: 'ignore' });
      return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)));
    };
    await machines.part(['n1'], ['n2', 'n3']);
    expect(await Promise.all([reaches('n1', 'n2'), reaches('n3', 'n1'), reaches('agents', 'n1'), reaches('n2', 'n3')])).toEqual([
      false,
      false,
      true,
      true,
    ]);
    await machines.heal(['n1'], ['n2', 'n3']);
    expect(await reaches('n1', 'n2')).toBe(true);
  });

  it('has programs that are paused and go on', async () => {
    const child = machines.spawn('agents', [process.execPath, '-e', "setInterval(() => console.log('x'), 20)"], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
    const nextLine = (): Promise<void> => new Promise((resolve) => lines.once('line', () => resolve()));
    await nextLine();
    child.kill('SIGSTOP');
    child.kill('SIGCONT');
    await nextLine();
    // It is left running: the machines end it.
  });
});

/** The fixture `stream-client.mjs` on a machine. */
class StoreClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: JsonObject) => void>();
  #lastId = 0;

  constructor(name: string) {
    const file = fileURLToPath(new URL('../fixtures/stream-client.mjs', import.meta.url));
    this.#child = machines.spawn(name, [process.execPath, file, ...nats.urls(name)], { env: bareEnvironment(), stdio: 'pipe' });
    createInterface({ input: this.#child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
      const { id, ...answer } = JSON.parse(line) as JsonObject & { id: number };
      this.#waiting.get(id)?.(answer);
    });
  }

  ask(message: JsonObject): Promise<JsonObject> {
    const id = ++this.#lastId;
    this.#child.stdin?.write(`${JSON.stringify({ id, ...message })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await new Promise((resolve) => this.#child.once('close', resolve));
  }
}

const isAnswered = (answer: JsonObject): boolean => !('error' in answer);

/** Asks until the answer is as wanted: a leader has to be found anew. */
async function until(ask: () => Promise<JsonObject>, isWanted: (answer: JsonObject) => boolean): Promise<void> {
  await expect.poll(async () => isWanted(await ask()), { timeout: 45_000, interval: 200 }).toBe(true);
}
