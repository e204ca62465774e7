import { describe, expect, it } from 'vitest';
import { Cancellation } from '../core/cancellation.js';
import { WaitingLine } from './waiting-line.js';

const patient = { timeoutMs: 1e12, onTimeout: () => new Error('too late') };

describe('WaitingLine', () => {
  it('serves in the order in which they came', async () => {
    const line = new WaitingLine<string>();
    const waiting = [line.wait(patient), line.wait(patient)];
    expect([line.settleFirst('a'), line.settleFirst('b'), line.settleFirst('c')]).toEqual([true, true, false]);
    expect(await Promise.all(waiting)).toEqual(['a', 'b']);
    expect(line.length).toBe(0);
  });

  it('lets go of who cancels, before and while they wait', async () => {
    const line = new WaitingLine<string>();
    const cancellation = new Cancellation();
    const first = line.wait({ ...patient, cancellation });
    const second = line.wait(patient);
    cancellation.cancel('stop');
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    await expect(line.wait({ ...patient, cancellation })).rejects.toMatchObject({ code: 'cancelled' });
    line.settleFirst('b');
    expect(await second).toBe('b');
    expect(line.length).toBe(0);
  });

  it('lets go of who has waited long enough', async () => {
    const line = new WaitingLine<string>();
    await expect(line.wait({ ...patient, timeoutMs: 1 })).rejects.toThrow('too late');
    expect(line.settleFirst('a')).toBe(false);
  });

  it('tells all at once, of a thing or that there is none', async () => {
    const line = new WaitingLine<string>();
    const served = [line.wait(patient), line.wait(patient)];
    line.settleAll('a');
    expect(await Promise.all(served)).toEqual(['a', 'a']);
    const failed = Promise.allSettled([line.wait(patient), line.wait(patient)]);
    line.failAll(new Error('none'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
