// @module-tag P-218

import { expect, test } from 'vitest';
import { classOfAddress, meantAddress } from './address-class.js';

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.251',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1111%eth0',
  'fec0::1',
  '168.63.129.16',
  'ff02::1',
  '',
  'localhost',
  '1.1.1',
  '0x7f.1',
  '017700000001',
  '1.1.1.1 ',
])('%s is not public', (address) => {
  expect(classOfAddress(address)).not.toBe('public');
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '151.101.0.223',
  '2606:4700::1111',
  '2a04:4e42::223',
])('%s is public', (address) => {
  expect(classOfAddress(address)).toBe('public');
});

test.each([
  ['127.9.9.9', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['0:0:0:0:0:ffff:7f00:1', 'loopback'],
  ['10.1.2.3', 'private'],
  ['::ffff:192.168.1.1', 'private'],
  ['100.100.1.1', 'private'],
  ['64:ff9b::a9fe:a9fe', 'private'],
  ['64:ff9b::808:808', 'public'],
  ['64:ff9b::5', 'special'],
  ['::ffff:0:5', 'special'],
  ['::ffff:8.8.8.8', 'public'],
  ['fe80::1%eth0', 'private'],
  ['fec0::1', 'private'],
  ['2002:7f00:1::', 'special'],
  ['203.0.113.9', 'special'],
  ['localhost', undefined],
])('%s means one that is %s', (address, expected) => {
  expect(classOfAddress(meantAddress(address))).toBe(expected);
});
