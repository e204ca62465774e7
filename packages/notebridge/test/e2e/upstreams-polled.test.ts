// @module-tag deep
// @module-tag P-359

import { expect, it } from 'vitest';
import { openPolledUpstream } from '../support/polled-upstream.js';
import { createCall, httpConfig, openUpstreams } from '../support/upstreams.js';

/** Which closes of the stream of a call have an event before them. */
const cases: [string, boolean[]][] = [
  ['before anything was said', [false]],
  ['after it has said something', [true]],
  ['five times, more often than a lost connection is tried', [true, true, true, true, true]],
  ['three times, and says nothing in between', [false, false, false]],
];

it.each(cases)('a server over HTTP that closes the stream of a call %s is asked for the rest', async (_, closes) => {
  const upstream = await openPolledUpstream();
  const { upstreams, call } = openUpstreams([httpConfig(upstream.url, { timeoutMs: 20_000 })]);
  await upstreams.start();
  const context = createCall('polled', { closes });
  expect(await call('polled', { closes }, context)).toEqual({ content: [{ type: 'text', text: `closed ${closes.length} times` }] });
  expect(upstream.resumed).toHaveLength(closes.length);
});

it('a server over HTTP that closes a stream says how long to wait before it is asked again', async () => {
  const upstream = await openPolledUpstream(1500);
  const { upstreams, call } = openUpstreams([httpConfig(upstream.url)]);
  await upstreams.start();
  await call('polled', { closes: [false] });
  // Left to itself the client of the SDK would wait for one second.
  expect(upstream.waits[0]).toBeGreaterThan(1490);
});
