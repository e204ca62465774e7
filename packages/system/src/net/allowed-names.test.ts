import { expect, it } from 'vitest';
import { createNotebridge } from '../../../notebridge/src/assembly/create-notebridge.js';
import { assertAllowedNames } from './allowed-names.js';

it.each(['*', '*.example.org', 'https://hub.example.org', 'hub.example.org/', 'a b', '', 'hub:', '::1', 'größe.example'])(
  'refuses the host %j, which no caller can send',
  { tags: ['P-726'] },
  (name) =>
    expect(() => assertAllowedNames({ allowHosts: [name] })).toThrow(
      expect.objectContaining({ code: 'bad_usage', message: expect.stringContaining(`--allow-host ${JSON.stringify(name)}`) }),
    ),
);

it.each(['*', 'https://*.example.org', 'app.example.org', 'https://app.example.org/', 'https://a@b'])(
  'refuses the origin %j',
  { tags: ['P-726'] },
  (name) => expect(() => assertAllowedNames({ allowOrigins: [name] })).toThrow(expect.objectContaining({ code: 'bad_usage' })),
);

it('takes what callers send', () => {
  const allowHosts = [
    'hub',
    'hub.example.org',
    'HUB.example.org:8765',
    '10.0.0.7',
    '[::1]:80',
    'xn--gre-6ka8l.example',
    'under_score.',
    'a',
  ];
  assertAllowedNames({ allowHosts, allowOrigins: ['https://app.example.org', 'http://localhost:3000', 'vscode-webview://x', 'null'] });
});

it.each(['http', 'pages'])('a hub with such a name in `%s` is not made', { tags: ['P-726'] }, async (part) => {
  await expect(createNotebridge({ env: {}, [part]: { allowHosts: ['*'] } })).rejects.toMatchObject({ code: 'bad_usage' });
});
