import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { natsServer, whyNoNatsServer } from '../../../../scripts/nats-server.mjs';
import { whyNoMachines } from '../support/cluster-namespaces.js';
import { runSoak } from './run-soak.js';

const { NOTEBRIDGE_SOAK = '{}' } = process.env;
/** `npm run soak` says how long, with how many hubs, with which faults, and where the report goes. */
const asked = JSON.parse(NOTEBRIDGE_SOAK) as { seconds?: number; hubs?: number; seed?: number; report?: string };
const nats = asked.hubs === 1 ? undefined : await natsServer();
const why = whyNoMachines ?? (nats === undefined ? whyNoNatsServer : undefined);
const { seconds = 40, hubs = why === undefined ? 3 : 1, seed = 1, report: file } = asked;
if (why !== undefined && asked.hubs !== 1) process.stderr.write(`tests: no soak of three hubs, since ${why}\n`);

describe.skipIf(hubs > 1 && why !== undefined)('under load, with faults', () => {
  it('no answer is wrong, no call is executed twice or hangs, no budget is exceeded, and all are back', {
    timeout: (seconds + 400) * 1000,
  }, async () => {
    const keepCalls = file === undefined ? undefined : `${file}.calls`;
    const report = await runSoak({ seconds, hubs, seed, nats, keepCalls });
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
    expect(report.broken, JSON.stringify(report)).toEqual([]);
    // The harness itself did something.
    for (const by of ['sdk-v1', 'sdk-v2', 'modern', 'sandbox', 'page']) expect(report.counts[by]?.ok, by).toBeGreaterThan(5);
    expect(report.grants).toBeGreaterThan(1);
    expect(report.faults.length).toBeGreaterThan(1);
  });
});
