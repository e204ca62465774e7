import { describe, expect, it } from 'vitest';
import { createChannelPair } from './message-stream.js';
import { tapChannel } from './tapped-channel.js';

describe('tapChannel', () => {
  function open() {
    const [near, far] = createChannelPair();
    const seen: unknown[] = [];
    const tapped = tapChannel(near, {
      onMessage: (message, direction) => seen.push([direction, message]),
      onClose: (direction, error) => seen.push([direction, 'closed', error?.message]),
    });
    return { far, tapped, seen };
  }

  it('hands on the very same objects, in the same turn, and sees each', () => {
    const { far, tapped, seen } = open();
    const got: unknown[] = [];
    far.incoming.consume({ onItem: (message) => got.push(message) });
    tapped.incoming.consume({ onItem: (message) => got.push(message) });
    const [there, back] = [{ there: 1 }, { back: 2 }];
    tapped.outgoing.send(there);
    far.outgoing.send(back);
    expect(got[0]).toBe(there);
    expect(got[1]).toBe(back);
    expect(seen).toEqual([
      ['outgoing', there],
      ['incoming', back],
    ]);
  });

  it('closes both directions as the connection does, with the error, and sees the first end alone', () => {
    const { far, tapped, seen } = open();
    const ends: unknown[] = [];
    tapped.incoming.consume({ onItem: () => {}, onClose: (error) => ends.push(error?.message) });
    far.incoming.consume({ onItem: () => {}, onClose: () => ends.push('hung up') });
    far.outgoing.close(new Error('gone'));
    tapped.outgoing.close();
    expect(ends).toEqual(['gone', 'hung up']);
    expect(seen).toEqual([['incoming', 'closed', 'gone']]);
  });

  it('lets through what the channel throws', () => {
    const { far, tapped } = open();
    far.incoming.consume({
      onItem: () => {
        throw new Error('it does not read');
      },
    });
    expect(() => tapped.outgoing.send({})).toThrow('it does not read');
  });
});
