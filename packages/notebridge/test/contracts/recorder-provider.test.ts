import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import { expect, it } from 'vitest';
import { createContext } from '../support/create-context.js';
import { RecorderProvider } from '../support/recorder-provider.js';
import { createContractSource } from './contract-source.js';
import { describeProviderContract } from './provider-contract.js';

describeProviderContract('RecorderProvider', () => new RecorderProvider(createContractSource()));

it('RecorderProvider has what passed, the very objects', async () => {
  const inner = new MemoryProvider();
  const recorder = new RecorderProvider(inner);
  const context = createContext('tools/list', { cursor: 'c' });
  const result = await recorder.request('tools/list', context.message, context);
  const failed = recorder.request('x', {}, context);
  await expect(failed).rejects.toMatchObject({ code: 'unknown_method' });
  recorder.notify('notifications/x', undefined);
  recorder.subscribe(() => {});
  inner.setTools([]);
  expect(recorder.requests).toMatchObject([{ method: 'tools/list' }, { method: 'x', error: { code: 'unknown_method' } }]);
  expect(recorder.requests[0]?.params).toBe(context.message);
  expect(recorder.requests[0]?.result).toBe(result);
  expect(recorder.notifications).toEqual([{ method: 'notifications/x', params: undefined }]);
  expect(recorder.events).toEqual([{ method: 'notifications/tools/list_changed' }]);
});
