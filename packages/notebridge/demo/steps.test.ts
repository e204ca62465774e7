import { describe, expect, it } from 'vitest';
import { type PlayOptions, playSteps, type Step } from './steps.js';

const heard: string[] = [];
const options: PlayOptions = {
  budgetMs: 60_000,
  signal: new AbortController().signal,
  listener: { onBegin: ({ name }) => void heard.push(`${name}?`), onEnd: ({ name, ok }) => void heard.push(`${name} ${ok}`) },
};
const good = (name: string): Step => ({ name, title: name, play: async () => `did ${name}` });
const endless: Step = { name: 'endless', title: 'endless', play: () => new Promise(() => {}) };

describe('playSteps', () => {
  it('plays in order, reports each step, and ends with the first that fails', { tags: ['P-008'] }, async () => {
    heard.length = 0;
    const bad: Step = { ...good('bad'), play: () => Promise.reject(new Error('it broke')) };
    expect(await playSteps([good('one'), bad, good('two')], options)).toEqual([
      { name: 'one', ok: true, ms: expect.any(Number), detail: 'did one' },
      { name: 'bad', ok: false, ms: expect.any(Number), detail: 'it broke' },
    ]);
    expect(heard).toEqual(['one?', 'one true', 'bad?', 'bad false']);
  });

  it('fails the step that does not end within the time of all', async () => {
    const reports = await playSteps([good('one'), endless, good('two')], { ...options, budgetMs: 20 });
    expect(reports.map(({ ok }) => ok)).toEqual([true, false]);
    expect(reports[1]?.detail).toBe('expected the whole demo within 0.02 s; found this step unfinished by then');
  });

  it('throws the reason of the signal, in a step and in a pause', async () => {
    const inStep = new AbortController();
    const play = (): Promise<string> => {
      inStep.abort(new Error('enough'));
      return endless.play();
    };
    await expect(playSteps([{ ...endless, play }], { ...options, signal: inStep.signal })).rejects.toThrow('enough');

    const inPause = new AbortController();
    const pause = async (): Promise<void> => inPause.abort(new Error('enough'));
    heard.length = 0;
    await expect(playSteps([good('one')], { ...options, pause, signal: inPause.signal })).rejects.toThrow('enough');
    expect(heard).toEqual([]);
  });
});
