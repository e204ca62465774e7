import { describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';

describe('RequestContext: progress', () => {
  it('goes out under the token of the caller, zero and the empty text included', { tags: ['P-057'] }, () => {
    for (const progressToken of ['abc', 7, 0, '']) {
      const context = createContext('tools/call', { _meta: { progressToken } });
      expect(context.wantsProgress).toBe(true);
      context.reportProgress(1, 3, 'one of three');
      context.reportProgress(2);
      context.forwardProgress({ progressToken: 'of the provider', progress: 3, _x: 'kept' });
      expect(context.notified.map(({ params }) => params)).toEqual([
        { progress: 1, total: 3, message: 'one of three', progressToken },
        { progress: 2, progressToken },
        { progress: 3, _x: 'kept', progressToken },
      ]);
    }
  });

  it.each([{}, { _meta: {} }, { _meta: 'text' }])('is not sent to a caller that asked for none: %j', (message) => {
    const context = createContext('tools/call', message);
    context.reportProgress(1);
    expect([context.wantsProgress, context.notified]).toEqual([false, []]);
  });

  it('is not sent once the call is cancelled', () => {
    const context = createContext('tools/call', { _meta: { progressToken: 1 } });
    context.cancellation.cancel('stop');
    context.reportProgress(1);
    expect(context.notified).toEqual([]);
  });
});

describe('RequestContext: what the caller is sent besides', () => {
  it('is a log line, or that the tools have changed', () => {
    const context = createContext('tools/call');
    context.log('info', { a: 1 });
    context.log('error', 'text', 'kernel');
    context.sendToolListChanged();
    expect(context.notified).toEqual([
      { method: 'notifications/message', params: { level: 'info', data: { a: 1 } } },
      { method: 'notifications/message', params: { level: 'error', data: 'text', logger: 'kernel' } },
      { method: 'notifications/tools/list_changed' },
    ]);
  });
});

describe('RequestContext: copy', () => {
  it('differs in its message alone, and shares its state with the original from then on', () => {
    const context = createContext('tools/call', { name: 'a' });
    const copy = context.copy({ message: { name: 'b', _meta: { progressToken: 1 } } });
    copy.setState('of the copy', 1);
    context.setState('of the original', 2);
    expect([context.getState('of the copy'), copy.getState('of the original'), copy.getState('of nobody')]).toEqual([1, 2, undefined]);
    expect([context.message, copy.message]).toEqual([{ name: 'a' }, { name: 'b', _meta: { progressToken: 1 } }]);
    expect([copy.method, copy.type, copy.callId, copy.caller, copy.cancellation, copy.timestamp]).toEqual([
      context.method,
      context.type,
      context.callId,
      context.caller,
      context.cancellation,
      context.timestamp,
    ]);
    expect([context.wantsProgress, copy.wantsProgress]).toEqual([false, true]);
  });

  it('is cancelled with the original', () => {
    const context = createContext('tools/call');
    const copy = context.copy({ message: {} });
    context.cancellation.cancel('stop');
    expect(copy.signal.aborted).toBe(true);
  });
});
