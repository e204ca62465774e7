import { expect, it } from 'vitest';
import { loginRequired, parseScopes } from './login-required.js';

it('names the command that a person copies: with the scopes that are missing, and none where none is', { tags: ['P-362'] }, () => {
  const commandOf = (scope?: string) =>
    loginRequired({ server: 'remote', why: 'it asks for a login', scope, options: ['--config', "it's"] }).data;
  expect(commandOf()).toEqual({ server: 'remote', command: `notebridge login remote --config 'it'\\''s'`, ran: 'no' });
  expect(commandOf('read write')).toEqual({
    server: 'remote',
    command: `notebridge login remote --scope 'read write' --config 'it'\\''s'`,
    ran: 'no',
    scopes: ['read', 'write'],
  });
});

it('takes no word of a server for a scope that RFC 6749 does not allow, and fifty at most', () => {
  expect(parseScopes('read  read write $(x) "quoted" \u0000 back\\slash')).toEqual(['read', 'write', '$(x)']);
  expect(parseScopes(Array.from({ length: 60 }, (_, index) => `s${index}`).join(' '))).toHaveLength(50);
});
