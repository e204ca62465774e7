// @module-tag P-363
// @module-tag P-382

import { expect, it } from 'vitest';
import { assertMayAsk } from './guarded-fetch.js';

const outside = 'https://203.0.113.5/mcp';

it.each([
  ['http://203.0.113.6/token', 'neither "https:" nor "http:" on loopback'],
  ['javascript:alert(1)', 'neither'],
  ['file:///etc/passwd', 'neither'],
  ['https://me:secret@203.0.113.6/token', 'user name or password'],
  ['https://127.0.0.1/token', 'own network'],
  ['https://2130706433/token', 'own network'],
  ['http://localhost:8765/api', 'own network'],
  ['https://a.localhost/', 'own network'],
  ['https://[::1]/token', 'own network'],
  ['https://[::ffff:10.0.0.1]/token', 'own network'],
  ['https://10.1.2.3/token', 'own network'],
  ['https://172.20.0.1/token', 'own network'],
  ['https://192.168.1.1/token', 'own network'],
  ['https://169.254.169.254/latest/meta-data', 'own network'],
  ['https://100.64.0.1/', 'own network'],
  ['https://0.0.0.0/', 'own network'],
  ['https://[fd00::1]/', 'own network'],
  ['https://[fe80::1]/', 'own network'],
  ['https://[ff02::1]/', 'own network'],
  ['https://[64:ff9b::a9fe:a9fe]/latest', 'own network'],
  ['https://[2002:a9fe:a9fe::1]/', 'own network'],
  ['https://203.0.113.6/token', 'nowhere on the Internet'],
  ['https://168.63.129.16/', 'own network'],
])('a server on the internet may not have %s asked', async (url, why) => {
  const refused: unknown = await assertMayAsk(new URL(url), outside).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'bad_origin', message: expect.stringContaining(why) });
  expect(String(refused)).not.toContain('secret@');
});

it.each([
  [outside, 'https://8.8.8.8/token'],
  [outside, 'https://[64:ff9b::808:808]/token'],
  ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:4000/token'],
  ['https://10.0.0.5/mcp', 'https://10.0.0.6/token'],
])('a server at %s may have %s asked', async (server, url) => {
  await expect(assertMayAsk(new URL(url), server)).resolves.toBeUndefined();
});

it('a server of the own network names nothing on this machine that is not secure', async () => {
  await expect(assertMayAsk(new URL('http://127.0.0.1:4000/token'), 'https://10.0.0.5/mcp')).rejects.toMatchObject({
    code: 'bad_origin',
    message: expect.stringContaining('on this machine'),
  });
});
