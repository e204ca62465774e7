// @module-tag P-414

import { describe, expect, it } from 'vitest';
import { redactForms } from './text-secrets.js';

describe('redactForms', () => {
  it.each([
    ['curl -H "Authorization: Bearer abc123def" https://x', 'curl -H "Authorization: [redacted]" https://x'],
    ['Cookie: a=b; session=xyz\r\nHost: x', 'Cookie: [redacted]\r\nHost: x'],
    ['{"authorization":"Basic dXNlcjpwYXNz"}', '{"authorization":"[redacted]"}'],
    ['it sent Bearer 0a1b2c3d4e5f', 'it sent Bearer [redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.', '[redacted].'],
    ['key ghp_0123456789abcdefghij0123', 'key [redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['https://me:hunter22@host/path', 'https://me:[redacted]@host/path'],
    ['https://x/cb?a=1&access_token=s3cret&b=2#id_token=zzz', 'https://x/cb?a=1&access_token=[redacted]&b=2#id_token=[redacted]'],
    ['https://colab/#mcpProxyToken=abc&mcpProxyPort=1', 'https://colab/#mcpProxyToken=[redacted]&mcpProxyPort=1'],
    ['X-Amz-Signature in https://b/o?X-Amz-Signature=f00&x=1', 'X-Amz-Signature in https://b/o?X-Amz-Signature=[redacted]&x=1'],
    ['GITHUB_TOKEN=abcdef\nPATH=/bin', 'GITHUB_TOKEN=[redacted]\nPATH=/bin'],
    ['{\n  "OPENAI_API_KEY": "abcdef",\n  "HOME": "/root"\n}', '{\n  "OPENAI_API_KEY": "[redacted]",\n  "HOME": "/root"\n}'],
    ['{"password": "let me in", "user": "me"}', '{"password": "[redacted]", "user": "me"}'],
    [
      `{'db_password': 'hunter22', 'aws_secret_access_key': 'abcdef'}`,
      `{'db_password': '[redacted]', 'aws_secret_access_key': '[redacted]'}`,
    ],
    ['"{\\"pass\\": \\"abcdef\\"}"', '"{\\"pass\\": \\"[redacted]\\"}"'],
    ['user: me\ndb_password: hunter22\nport: 5432', 'user: me\ndb_password: [redacted]\nport: 5432'],
    ['db_password = "hunter 2"', 'db_password = "[redacted]"'],
    [`db_password: 'x y z'`, `db_password: '[redacted]'`],
    ['{dbPassword: "hunter22"}', '{dbPassword: "[redacted]"}'],
    ['os.environ["DB_PASSWORD"] = "hunter22"', 'os.environ["DB_PASSWORD"] = "[redacted]"'],
    ['psql --db_password hunter22 --host db', 'psql --db_password [redacted] --host db'],
    ['["--api-key", "abcd1234"]', '["--api-key", "[redacted]"]'],
    ['[{"name":"DB_PASSWORD","value":"x y z"}]', '[{"name":"DB_PASSWORD","value":"[redacted]"}]'],
    ['"{\\"name\\": \\"DB_PASSWORD\\", \\"value\\": \\"x y z\\"}"', '"{\\"name\\": \\"DB_PASSWORD\\", \\"value\\": \\"[redacted]\\"}"'],
    ['Server=db;User Id=sa;Password=Or4nge;', 'Server=db;User Id=sa;Password=[redacted];'],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\n\nMIIE\n-----END RSA PRIVATE KEY-----\n',
      '-----BEGIN RSA PRIVATE KEY----- [redacted]\n',
    ],
  ])('takes the secret out of %j', (text, redacted) => {
    expect(redactForms(text)).toBe(redacted);
  });

  it.each([
    'Basic authentication, bearer tokens and cookies are explained in chapter 3.',
    'https://example.org/a?page=2&nextPageToken2',
    'progressToken: 7',
    'with --password instead, or --token-file hunter22.txt; {"name": "city", "value": "London"}',
    'password: string, the secret: a word',
    'sort_key = "created_at"; primaryKey: "id"',
    '{"token": 5, "type": "string"}',
    'user@example.org wrote http://localhost:8080/x',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ])('leaves %j', (text) => {
    expect(redactForms(text)).toBe(text);
  });
});

describe('redactForms of a hostile text', () => {
  it.each([
    'eyJ-aaaa-',
    'eyJaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
    'Token ',
    'Token                ',
    'authorization',
    'cookie:',
    'sk-',
    'A',
    'A_',
    'A_TOKEN_',
    '"token-',
    '--token ',
    '--token-',
    '"name":"',
    'name=',
    '"a-',
    '://',
    '://a:b',
    '&token',
    '?a.',
    '&',
    '\\"',
  ])('the redaction of %j takes no longer than its length', (part) => {
    const text = part.repeat(Math.ceil(1_000_000 / part.length));
    const began = performance.now();
    redactForms(text);
    // Tens of milliseconds; in square time it would be minutes.
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
