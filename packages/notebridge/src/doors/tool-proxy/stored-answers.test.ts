import { describe, expect, it } from 'vitest';
import { type AnswerKey, type Outcome, StoredAnswers } from './stored-answers.js';

const of = (key: string, holder = 'a'): AnswerKey => ({ holder, key });
const outcome = (text: string, hasRun = true): Outcome => ({ status: 200, text, headers: [], hasRun });
const answers = (options: { maxAnswers?: number; maxBytes?: number; keepMs?: number; now?: () => number } = {}): StoredAnswers =>
  new StoredAnswers({ maxAnswers: 10, maxBytes: 1000, keepMs: 60_000, now: () => 0, ...options });
const never = (): never => {
  throw new Error('called twice');
};

describe('StoredAnswers', () => {
  it('makes a call once, and says that a repetition is one', async () => {
    const stored = answers();
    expect(await stored.run(of('k'), 'f', async () => outcome('a'))).toEqual(outcome('a'));
    expect(await stored.run(of('k'), 'f', never)).toEqual({ ...outcome('a'), headers: ['idempotency-replayed', 'true'] });
  });

  it('has a repetition wait for the call that runs', async () => {
    const stored = answers();
    let finish = (_: Outcome): void => {};
    const first = stored.run(of('k'), 'f', () => new Promise((resolve) => (finish = resolve)));
    const second = stored.run(of('k'), 'f', never);
    finish(outcome('a'));
    expect([await first, await second]).toMatchObject([{ text: 'a' }, { text: 'a' }]);
  });

  it('refuses another call under the same key, also while the first runs', async () => {
    const stored = answers();
    const first = stored.run(of('k'), 'f', async () => outcome('a'));
    expect(await stored.run(of('k'), 'g', never)).toMatchObject({ status: 422 });
    await first;
    expect(await stored.run(of('k'), 'g', never)).toMatchObject({ status: 422 });
  });

  it('keeps no refusal: a repeated call has a try', async () => {
    const stored = answers();
    const first = stored.run(of('k'), 'f', async () => outcome('denied', false));
    const second = stored.run(of('k'), 'f', async () => outcome('a'));
    expect([await first, await second]).toMatchObject([{ text: 'denied' }, { text: 'a' }]);
    expect(await stored.run(of('k'), 'f', never)).toMatchObject({ text: 'a' });
  });

  it.each([
    ['there are too many', { maxAnswers: 2 }],
    ['they are too large together', { maxBytes: 2 }],
  ])('forgets the oldest when %s', async (_, bounds) => {
    const stored = answers(bounds);
    for (const key of ['1', '2', '3']) await stored.run(of(key), 'f', async () => outcome(key));
    expect(await stored.run(of('3'), 'f', never)).toMatchObject({ text: '3' });
    expect(await stored.run(of('1'), 'f', async () => outcome('again'))).toMatchObject({ text: 'again' });
  });

  it.each([
    ['many', { maxAnswers: 4 }, 'x'],
    ['large', { maxBytes: 8 }, 'xxx'],
  ])('forgets no answer of others for those of one who has too %s', { tags: ['P-077'] }, async (_, bounds, text) => {
    const stored = answers(bounds);
    await stored.run(of('k', 'other'), 'f', async () => outcome('o'));
    for (let at = 0; at < 20; at++) await stored.run(of(`${at}`), 'f', async () => outcome(text));
    expect(await stored.run(of('k', 'other'), 'f', never)).toMatchObject({ text: 'o' });
    expect(await stored.run(of('19'), 'f', never)).toMatchObject({ text });
    expect(await stored.run(of('0'), 'f', async () => outcome('again'))).toMatchObject({ text: 'again' });
  });

  it('forgets after a while', async () => {
    let time = 0;
    const stored = answers({ keepMs: 10, now: () => time });
    await stored.run(of('k'), 'f', async () => outcome('a'));
    time = 10;
    expect(await stored.run(of('k'), 'g', async () => outcome('b'))).toMatchObject({ text: 'b' });
  });

  it('does not keep what is larger than all of its space', async () => {
    const stored = answers({ maxBytes: 3 });
    await stored.run(of('k'), 'f', async () => outcome('long'));
    expect(await stored.run(of('k'), 'f', async () => outcome('b'))).toMatchObject({ text: 'b' });
  });
});
