// @module-tag P-218

import { expect, test } from 'vitest';
import { parseAllowedServers } from './allowed-servers.js';

test('a name is that server alone, on ports 443 and 80', () => {
  const servers = parseAllowedServers(['PyPI.org', 'files.pythonhosted.org']);
  expect(servers.includes('pypi.org', 443)).toBe(true);
  expect(servers.includes('PYPI.ORG.', 80)).toBe(true);
  expect(servers.includes('pypi.org', 8443)).toBe(false);
  for (const host of ['www.pypi.org', 'pypi.org.example.com', 'evilpypi.org', 'pypi-org', 'org', ''])
    expect(servers.includes(host, 443), host).toBe(false);
});

test('a star is every server below a name, and not that one', () => {
  const servers = parseAllowedServers(['*.example.org']);
  expect(servers.includes('a.example.org', 443)).toBe(true);
  expect(servers.includes('a.b.example.org', 443)).toBe(true);
  for (const host of ['example.org', 'badexample.org', 'example.org.a']) expect(servers.includes(host, 443), host).toBe(false);
});

test('a port is that port alone', () => {
  const servers = parseAllowedServers(['example.org:8443', '[2606:4700::1111]:443', '1.1.1.1']);
  expect(servers.includes('example.org', 8443)).toBe(true);
  expect(servers.includes('example.org', 443)).toBe(false);
  expect(servers.includes('[2606:4700::1111]', 443)).toBe(true);
  expect(servers.includes('1.1.1.1', 80)).toBe(true);
});

test.each([
  '*',
  '*.org',
  '',
  'https://pypi.org',
  'pypi.org/simple',
  'a b',
  'pypi.org:0',
  'pypi.org:99999',
  'a.*.org',
  'user@pypi.org',
  '[::1',
  '*.1.2.3.4:x',
])('"%s" is refused with what would be right', (entry) => {
  expect(() => parseAllowedServers([entry])).toThrow(/names no server.*Give a host name/);
});
