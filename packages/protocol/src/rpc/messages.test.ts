import { describe, expect, it } from 'vitest';
import { parseJson } from '../exact-json.js';
import { classifyMessage, idKey, isRpcId, type RpcId } from './messages.js';

// What a peer does with each kind is tested with the peer.
describe('classifyMessage', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"x"}', 'request'],
    ['{"id":"","method":"","params":{}}', 'request'],
    ['{"id":1,"method":"x","result":{}}', 'request'],
    ['{"id":1,"method":"x","params":[]}', 'request'],
    ['{"method":"x"}', 'notification'],
    ['{"method":"x","params":null}', 'notification'],
    ['{"id":1,"result":{}}', 'answer'],
    ['{"id":1,"result":null}', 'answer'],
    ['{"id":1,"error":"text"}', 'answer'],
    ['{"id":1.0,"result":{},"error":{}}', 'answer'],
    ['{"id":1}', 'fault'],
    ['{"result":{}}', 'fault'],
    ['{"id":{},"method":"x"}', 'fault'],
    ['{"method":"x","params":1}', 'fault'],
    ['[]', 'fault'],
    ['1.0', 'fault'],
  ])('takes %s for a %s', (text, kind) => {
    expect(classifyMessage(parseJson(text)).kind).toBe(kind);
  });

  it('gives the very message, uncopied', () => {
    const value = { id: 1, method: 'x', params: { a: 1 }, extra: true };
    const classified = classifyMessage(value);
    expect(classified.kind === 'request' && classified.message).toBe(value);
  });

  it('leaves null params out', () => {
    const value = { id: 1, method: 'x', params: null, extra: true };
    expect(classifyMessage(value)).toEqual({ kind: 'request', message: { id: 1, method: 'x', extra: true } });
    expect(value.params).toBeNull();
  });
});

describe('idKey', () => {
  it('differs for all ids that differ on the wire', () => {
    const ids = ['0', '1', '"1"', '1.0', '"1.0"', '"n1.0"', '-0', '"-0"', '"s1"', '9007199254740992', '9007199254740993', '""', '1e0'];
    const keys = ids.map((id) => idKey(parseJson(id) as RpcId));
    expect(new Set(keys).size).toBe(ids.length);
    expect(ids.map((id) => idKey(parseJson(id) as RpcId))).toEqual(keys);
  });
});

describe('isRpcId', () => {
  it.each(['null', 'true', '{}', '[]', '{"valueOf":1}', '{"source":"1"}'])('refuses %s', (text) => {
    expect(isRpcId(parseJson(text))).toBe(false);
  });
});
