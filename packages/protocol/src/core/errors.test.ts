// @module-tag P-017

import { describe, expect, it } from 'vitest';
import { messageOf } from '../util/message-of.js';
import { BridgeError, codeOf, type ErrorCode, errorTable, RemoteError, toRpcError } from './errors.js';

describe('errorTable', () => {
  const standard = [-32700, -32600, -32601, -32602, -32603];

  it.each(Object.entries(errorTable))(
    '%s has a number that is ours to use, a meaning and a next step',
    (code, { rpcCode, meaning, next }) => {
      const isOurs = rpcCode <= -32000 && rpcCode >= -32019;
      // Numbers that the modern era has given a meaning.
      const isOfTheSpec =
        standard.includes(rpcCode) ||
        (code === 'unsupported_version' && rpcCode === -32022) ||
        (code === 'missing_capability' && rpcCode === -32021);
      expect(isOurs || isOfTheSpec).toBe(true);
      expect([meaning, next]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
    },
  );
});

describe('toRpcError', () => {
  it('shows an error of ours with its code, which its data cannot change', () => {
    const error = new BridgeError('limit_reached', 'wait', { data: { limit: 2, code: 'other' }, cause: new Error('secret') });
    expect(toRpcError(error)).toEqual({ code: -32015, message: 'wait', data: { limit: 2, code: 'limit_reached' } });
  });

  it('shows a method that its sender may not use at all with the number of one that is not there', () => {
    const error = new BridgeError('denied', 'no', { data: { rule: 'method' } });
    expect(toRpcError(error)).toEqual({ code: -32601, message: 'no', data: { rule: 'method', code: 'denied' } });
    expect(toRpcError(new BridgeError('denied', 'no', { data: { rule: 'allow' } }))).toMatchObject({ code: -32019 });
  });

  it('shows an error of a peer as it came', () => {
    const raw = { code: 'odd', message: 7, data: [1], extra: true };
    expect(toRpcError(new RemoteError(raw))).toBe(raw);
  });

  it.each([new Error('secret'), 'secret', null, { code: -32000, message: 'secret' }])('shows nothing of the unexpected %s', (thrown) => {
    expect(toRpcError(thrown)).toEqual({ code: -32603, message: 'Internal error', data: { code: 'internal' } });
  });
});

describe('codeOf', () => {
  it('knows errors of ours and no others', () => {
    expect(codeOf(new BridgeError('timeout', 'x'))).toBe('timeout' satisfies ErrorCode);
    expect(codeOf(Object.assign(new Error('x'), { code: 'timeout' }))).toBeUndefined();
    expect(codeOf(new RemoteError({ code: 'timeout' }))).toBeUndefined();
  });
});

describe('messageOf', () => {
  it.each([
    [new Error('a'), 'a'],
    [{ message: 'b' }, 'b'],
    ['c', 'c'],
    [undefined, 'undefined'],
    [new RemoteError({ code: 1 }), 'The peer answered with an error'],
  ])('the message of %s is "%s"', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });
});
