// @module-tag P-639

import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../notebridge/src/config/parse-config.js';
import { secretsOfServer } from '../../../notebridge/src/upstreams/server-secrets.js';
import { publicConfigs, publicVariables } from '../../../notebridge/test/fixtures/public-configs.js';
import { Redactor } from './redactor.js';
import { isSecretName, secretsOfEnvironment, secretsOfHeader, secretsOfVariable } from './secrets.js';

const harmless = [
  ...['production', 'customers', '${HOME}', '${input:github_token}', '$HOME', 'true', 'development', 'localhost', 'us-east-1'],
  ...['eu-central-1', 'text-embedding-3-small', 'gpt-4o-mini-2024-07-18', 'claude-3-7-sonnet-20250219', 'information_schema'],
  ...[
    'us.anthropic.claude-3-7-sonnet-20250219-v1:0',
    'anthropic/claude-3.5-sonnet',
    'application/vnd.github+json',
    'read:issues write:issues',
  ],
  ...[
    '/home/you/Documents/Quarterly Report 2026.xlsx',
    '/var/folders/zz/zyxvpxvq6csfxvn0000000000000T/work',
    'C:\\Users\\Ada\\AppData\\Roaming',
  ],
  ...[
    '/nix/store/0c9kxs3y5m2n8p7q1r4t6v8w0z2b4d6f-python-3.11/bin/python',
    './data/2026-11-28/part-00042.parquet',
    '~/.config/app/settings.json',
  ],
  ...[
    'https://api.github.com/repos/acme/forecast/issues?state=open&per_page=100',
    'https://example.com/a/b#section-2',
    'http://127.0.0.1:8888/lab',
  ],
  ...[
    'postgresql://localhost:5432/customers',
    'redis://cache.internal:6379/0',
    'git+https://github.com/acme/tool@9fceb02d0ae598e95dc970b74767f19372d61af8',
  ],
  ...[
    'my-deployment-1a2b3c.es.us-central1.gcp.cloud.es.io',
    'db.c9akciq32rgt.us-east-1.rds.amazonaws.com',
    'ec2-203-0-113-25.compute-1.amazonaws.com',
  ],
  ...[
    'k8s1a2b3c4d5e6f7a8b9c0d1e2f3a4.elb.example.com',
    'ada@example.com',
    'bot@my-project-4711.iam.gserviceaccount.com',
    '5d0b2a94-77c1-4e0f-9f0e-2b8a6c1d3e40',
  ],
  ...[
    '2026-11-28T05:27:15.000Z',
    '2026-11-28',
    '09:00-17:30 Europe/Berlin',
    '127.0.0.1:8765',
    '2001:db8::1',
    '11223344',
    '0.25',
    '1280,720',
    'debug,info,warn',
  ],
  ...[
    'drop table customers in production',
    'select count(*) from orders where created_at > now()',
    'Basic authentication',
    'bearer tokens are explained',
  ],
  ...[
    '@modelcontextprotocol/server-sequential-thinking@2025.7.1',
    'ghcr.io/acme/tool@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ],
  ...[
    'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
    'TheQuickBrownFoxJumpsOverTheLazyDog',
  ],
  ...[
    'a_rather_long_name_of_a_column_in_a_table',
    'someVeryLongCamelCaseIdentifierName',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)',
  ],
  ...[
    '{"include_images": true, "search_depth": "advanced"}',
    '[{"name": "customers", "keys": ["id", "country"]}]',
    '*.test.ts,!**/dist/**',
    'C01234567, C76543210',
  ],
  ...['max_tokens=4096; temperature=0.2', 'sort_key: created_at', 'nextPageToken=abcdefgh', 'token limit: 40960000'],
];

describe('what a secret is', () => {
  it('has sixty public configs and sixty values to be tried on', () => {
    expect(Object.keys(publicConfigs).length).toBeGreaterThanOrEqual(60);
    expect(harmless.length).toBeGreaterThanOrEqual(60);
  });

  it.each(Object.entries(publicConfigs))('in the config of %s', (name, entry) => {
    const marked = JSON.stringify({ mcpServers: { [name]: entry } });
    const clean = (text: string): string => text.replaceAll(/[⟦⟧]/g, '');
    const env = Object.fromEntries(Object.entries(publicVariables).map(([key, value]) => [key, clean(value)]));
    const [server] = parseConfig({ file: '/mcp.json', text: clean(marked), env }).servers;
    const redactor = new Redactor();
    if (server !== undefined) redactor.replace('it', secretsOfServer(server));
    const used = Object.entries(publicVariables).flatMap(([key, value]) => (marked.includes(`{${key}}`) ? [value] : []));
    const said = [...used, ...stringsIn(entry)];
    for (const text of said) {
      const shown = redactor.redact(clean(text));
      for (const [, secret = ''] of text.matchAll(/⟦([^⟧]+)⟧/g)) expect(shown).not.toContain(secret);
      const [first = '', ...rest] = text.split(/⟦[^⟧]+⟧/);
      expect(shown.replaceAll(/\[redacted: [^\]]+\]/g, '⟦⟧')).toBe([first, ...rest].join('⟦⟧'));
    }
  });

  it.each(harmless)('is not %j', (value) => {
    expect(secretsOfVariable('SETTING', value)).toEqual([]);
  });

  it('is named as the variable, header, flag or member that has it, with its end where that leaves enough', () => {
    const redactor = new Redactor();
    redactor.replace('it', [
      ...secretsOfVariable('API_KEY', 'sixteen-letters!'),
      ...secretsOfHeader('Authorization', 'Bearer abcdefghij0123456789'),
    ]);
    expect(redactor.redact('sixteen-letters! Bearer abcdefghij0123456789')).toBe(
      '[redacted: API_KEY] Bearer [redacted: Authorization …6789]',
    );
  });
});

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

describe('names of secrets', () => {
  it.each([
    ...['token', 'apiKey', 'api_key', 'Authorization', 'client_secret', 'password', 'X-Auth-Token', 'refreshToken', 'db_password'],
    ...['aws_secret_access_key', 'pass', 'passwords', 'dbPass', 'PGPASSWORD', 'privateKey', 'accessTokens', 'session_token', 'API_KEY_2'],
  ])('%s is one', (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    ...[
      'progressToken',
      'nextCursor',
      'tokens',
      'maxTokens',
      'key',
      'name',
      'secretary',
      'keyboard',
      'primary_key',
      'tokenLimit',
      'compass',
    ],
    ...['nextPageToken', 'passThrough', 'password_policy', 'TOKEN_ENDPOINT', 'SSH_KEY_PATH', 'author', 'sortKey', 'passed', 'PUBLIC_KEY'],
  ])('%s is none', (name) => expect(isSecretName(name)).toBe(false));

  it('are those of variables too, where a path is no secret', () => {
    const env = {
      PATH: '/bin',
      PWD: '/home/you/forecast',
      AWS_SECRET_ACCESS_KEY: 'secret-a',
      SSH_KEY: 'secret-b',
      DB_PASSWORD: 'hunter2',
      KEYBOARD: 'secret-d',
      GH_PAT: 'secret-e',
      KEY: 'secret-f',
      TLS_KEY: '/etc/ssl/key.pem',
      NONE_TOKEN: undefined,
      SHORT_TOKEN: 'abc',
    };
    expect(secretsOfEnvironment(env).map(({ value }) => value)).toEqual(['secret-a', 'secret-b', 'hunter2', 'secret-e', 'secret-f']);
  });
});
