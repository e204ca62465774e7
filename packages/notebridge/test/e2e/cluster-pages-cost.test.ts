// @module-tag deep
// @module-tag P-573

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { colabProfile } from '../../src/notebooks/profiles/colab.js';
import { Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';
import { type PageHub, PageHubs } from '../support/page-hubs.js';

const count = 10_000;

describe.skipIf(natsProgram === undefined || process.platform !== 'linux')(`10,000 pages of three hubs${whyNoNats}`, () => {
  it('cost NATS less than 40 KB each, in memory and on disk', { timeout: 240_000 }, async () => {
    await using nats = await Nats.start();
    await using cluster = new PageHubs(1);
    const [node] = nats.nodes;
    if (node === undefined) throw new Error('There is no server.');
    const links = await Promise.all(
      ['a', 'b', 'c'].map((hubName) =>
        connectNats({ settings: { ...natsSettings(nats.urls), hubName }, logger: silentLogger, redactor: new Redactor() }),
      ),
    );
    const hubs: PageHub[] = [];
    for (const [index, { store, bus }] of links.entries())
      hubs.push(await cluster.add('abc'[index] ?? '', { store, bus, setCut: () => {} }));
    await cluster.seen(3);
    const before = { memory: memoryOf(node.pid ?? 0), disk: bytesIn(node.folder) };
    for (const hub of hubs) {
      const pages = Array.from({ length: Math.ceil(count / 3) }, (_, at) =>
        hub.pages.open({ profile: 'colab', url: `${colabProfile.defaultUrl}?${at}` }),
      );
      for (const { page } of pages) page.slot.rememberedTools = [...colabProfile.tools];
      await hub.told(() => pages.every(({ isBehind }) => !isBehind));
    }
    const [a] = hubs;
    expect(a?.claims.records('page.').length).toBeGreaterThan(count / 3);
    const perPage = {
      memory: (memoryOf(node.pid ?? 0) - before.memory) / count,
      disk: (bytesIn(node.folder) - before.disk) / count,
    };
    expect(perPage.memory + perPage.disk, JSON.stringify(perPage)).toBeLessThan(40_000);
    await cluster[Symbol.asyncDispose]();
    for (const link of links) await link.close();
  });
});

/** Bytes of the process that are in memory. */
function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}
