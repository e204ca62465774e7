import { expect, it } from 'vitest';
import { HubMetrics } from './hub-metrics.js';

const readSeries = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

it('a hub counts budgets, starts of Pythons and its connection to NATS, from zero on', { tags: ['P-720'] }, async () => {
  let isConnected = true;
  const metrics = new HubMetrics({
    servers: { all: () => [], get: () => undefined } as never,
    countApprovals: () => 0,
    listGrants: () => [
      { calls: 2, used: 2 },
      { calls: 2, used: 1 },
      { calls: undefined, used: 9 },
    ],
    edits: { refused: undefined },
    version: '0',
    cluster: { hubs: () => 2, isJoined: () => true, isConnected: () => isConnected, served: () => 0, dropped: () => ({}) },
  });
  const before = await metrics.scrape();
  expect(readSeries(before, 'notebridge_budget_exhausted_total')).toBe(0);
  expect(readSeries(before, 'notebridge_kernel_starts_total{outcome="failed"}')).toBe(0);
  expect(readSeries(before, 'notebridge_cluster_nats_connected')).toBe(1);
  expect([readSeries(before, 'notebridge_grants'), readSeries(before, 'notebridge_grants_exhausted')]).toEqual([3, 1]);
  const context = { caller: { door: 'http' } } as never;
  for (const outcome of ['ok', 'budget_exhausted'])
    metrics.begin({ context, address: { server: 's', tool: 't' }, args: {}, label: undefined })(outcome, undefined);
  metrics.kernelStarted('failed', 10);
  metrics.kernelStarted('ok', 700);
  isConnected = false;
  const after = await metrics.scrape();
  expect(readSeries(after, 'notebridge_budget_exhausted_total')).toBe(1);
  expect(readSeries(after, 'notebridge_kernel_starts_total{outcome="failed"}')).toBe(1);
  expect(readSeries(after, 'notebridge_kernel_start_duration_seconds_bucket{le="1"}')).toBe(1);
  expect(readSeries(after, 'notebridge_kernel_start_duration_seconds_count')).toBe(1);
  expect(readSeries(after, 'notebridge_cluster_nats_connected')).toBe(0);
});
