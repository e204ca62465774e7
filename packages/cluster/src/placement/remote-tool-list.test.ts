import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { RemoteToolList } from './remote-tool-list.js';

const listOf = (...names: string[]): JsonObject => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) });

describe('the tools of a server as another hub has listed them', () => {
  it('are read again where the owner had other tools before they came', { tags: ['P-620'] }, async () => {
    let digest = 'first';
    let answer: (listed: JsonObject) => void = () => {};
    const ask = () =>
      new Promise<JsonObject>((resolve) => {
        answer = resolve;
      });
    const list = new RemoteToolList({ ask, digest: () => digest });
    const reading = list.read();
    // The claim tells of a change sooner than the answer comes that was given before it.
    digest = 'second';
    answer(listOf('old'));
    await reading;
    expect(list.isCurrent).toBe(false);
    const again = list.read();
    answer(listOf('new'));
    expect((await again).map(({ name }) => name)).toEqual(['new']);
    expect(list.isCurrent).toBe(true);
  });

  it('are what the owner has where it says so for the first time because it was asked', async () => {
    let digest: string | undefined;
    const ask = async () => {
      digest = 'first';
      return listOf('one');
    };
    const list = new RemoteToolList({ ask, digest: () => digest });
    await list.read();
    expect(list.isCurrent).toBe(true);
  });
});
