// @module-tag P-684

import { expect, it } from 'vitest';
import { AllowedReach } from './allowed-reach.js';

const folder = '/home/you/work';

it('offers what code was kept from once a minute, and adds what is allowed', () => {
  let now = 0;
  const allowed = new AllowedReach({ files: undefined, allowNet: ['pypi.org'] }, () => now);
  expect(allowed.take({ kind: 'write', folder })).toBe(true);
  expect(allowed.offer).toEqual({ kind: 'write', what: folder });
  expect(allowed.take({ kind: 'network', host: 'example.org' })).toBe(false);
  expect(allowed.with('/another')).toBeUndefined();
  const reach = allowed.with(folder);
  expect(reach).toEqual({ files: 'rw', allowNet: ['pypi.org'] });
  if (reach) allowed.set(reach);
  expect([allowed.reach, allowed.offer]).toEqual([reach, undefined]);
  now = 60_000;
  expect(allowed.take({ kind: 'network', host: 'Example.org' })).toBe(true);
  expect(allowed.with('example.org')).toEqual({ files: 'rw', allowNet: ['pypi.org', 'example.org'] });
  allowed.refuse('example.org');
  now = 120_000;
  expect(allowed.take({ kind: 'network', host: 'example.org' })).toBe(false);
  expect(allowed.offer).toBeUndefined();
});

it('offers no server by what is none, and no installation', () => {
  const allowed = new AllowedReach({ files: undefined, allowNet: [] });
  for (const host of ['*.org', 'a b', 'evil.example/?trust=me', '', 'x'.repeat(300)])
    expect([host, allowed.take({ kind: 'network', host })]).toEqual([host, false]);
  expect(allowed.take({ kind: 'install' })).toBe(false);
});
