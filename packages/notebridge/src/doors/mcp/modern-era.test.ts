import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { envelopeKeys, serverInfoMetaKey } from '@notebridge/protocol/rpc/modern-envelope';
import { describe, expect, it } from 'vitest';
import { parseEnvelope, toDiscoverResult, toModernError, toModernResult, unsupportedVersion } from './modern-era.js';

const identity = { serverInfo: { name: 'n', version: '1' }, instructions: 'Do.' };
const envelope = { [envelopeKeys.protocolVersion]: '2026-07-28', [envelopeKeys.clientCapabilities]: {} };

describe('parseEnvelope', () => {
  it('reads who calls and what log lines it wants', () => {
    expect(parseEnvelope('tools/list', envelope)).toEqual({ clientInfo: undefined, logLevel: undefined });
    const meta = { ...envelope, [envelopeKeys.clientInfo]: { name: 'a' }, [envelopeKeys.logLevel]: 'info', other: 1 };
    expect(parseEnvelope('tools/list', meta)).toEqual({ clientInfo: { name: 'a' }, logLevel: 'info' });
  });

  it.each([
    ['an unknown version', 'tools/list', { [envelopeKeys.protocolVersion]: '2025-11-25' }, 'unsupported_version'],
    ['a version that is no text', 'tools/list', { [envelopeKeys.protocolVersion]: 1 }, 'unsupported_version'],
    ['no capabilities', 'tools/list', { [envelopeKeys.clientCapabilities]: undefined }, 'bad_params'],
    ['a list of capabilities', 'tools/list', { [envelopeKeys.clientCapabilities]: [] }, 'bad_params'],
    ['an unknown log level', 'tools/list', { [envelopeKeys.logLevel]: 'warn' }, 'bad_params'],
    ['a method that is gone', 'ping', {}, 'unknown_method'],
  ])('refuses %s', (_name, method, meta, code) => {
    expect(() => parseEnvelope(method, { ...envelope, ...meta })).toThrow(expect.objectContaining({ code }));
  });
});

describe('unsupportedVersion', () => {
  it('names what is served and what was asked', () => {
    expect(unsupportedVersion('x').data).toEqual({ supported: ['2026-07-28'], requested: 'x' });
    expect(unsupportedVersion(undefined).data.requested).toBe('unknown');
  });
});

describe('toDiscoverResult', () => {
  it('has instructions only if there are some', () => {
    expect(toDiscoverResult(identity)).toMatchObject({ supportedVersions: ['2026-07-28'], instructions: 'Do.' });
    expect(toDiscoverResult({ ...identity, instructions: undefined })).not.toHaveProperty('instructions');
  });
});

describe('toModernResult', () => {
  it('stamps calls with their type and who answered, lists also with how long they hold', () => {
    const _meta = { [serverInfoMetaKey]: identity.serverInfo };
    expect(toModernResult('tools/call', { content: [] }, identity)).toEqual({ resultType: 'complete', content: [], _meta });
    expect(toModernResult('tools/list', { tools: [] }, identity)).toEqual({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      tools: [],
      _meta,
    });
  });

  it('leaves what a provider of this era has said, and every key it does not know', () => {
    const result = { resultType: 'input_required', ttlMs: 9, cacheScope: 'public', x: [1], _meta: { y: 1 } };
    expect(toModernResult('resources/read', result, identity)).toEqual({
      ...result,
      _meta: { [serverInfoMetaKey]: identity.serverInfo, y: 1 },
    });
    expect(result._meta).toEqual({ y: 1 });
  });
});

describe('toModernError', () => {
  it('gives a missing resource the code of this era, and keeps the rest', () => {
    const error = toModernError('resources/read', new RemoteError({ code: -32002, message: 'm', data: { uri: 'a' }, x: 1 }));
    expect((error as RemoteError).raw).toEqual({ code: -32602, message: 'm', data: { uri: 'a' }, x: 1 });
  });

  it('leaves what the same code means elsewhere', () => {
    const error = new RemoteError({ code: -32002, message: 'm' });
    expect(toModernError('tools/call', error)).toBe(error);
  });

  it.each([new RemoteError({ code: -32001, message: 'm' }), new BridgeError('timeout', 't'), 'thrown'])('leaves %s alone', (error) => {
    expect(toModernError('resources/read', error)).toBe(error);
  });
});
