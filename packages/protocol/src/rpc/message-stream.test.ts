import { describe, expect, it } from 'vitest';
import { createChannelPair, MessageStream } from './message-stream.js';

/** A consumer that records what it receives. */
function recorder(): { log: unknown[]; onItem: (item: unknown) => void; onClose: (error?: Error) => void } {
  const log: unknown[] = [];
  return { log, onItem: (item) => log.push(item), onClose: (error) => log.push(error ?? 'closed') };
}

describe('MessageStream', () => {
  it('hands items over in the turn in which they are sent', () => {
    const stream = new MessageStream();
    const consumer = recorder();
    stream.consume(consumer);
    stream.send(1);
    expect(consumer.log).toEqual([1]);
  });

  it('keeps what comes before anyone listens, and the end too', async () => {
    const stream = new MessageStream();
    stream.send(1);
    stream.close(new Error('gone'));
    const consumer = recorder();
    stream.consume(consumer);
    expect(consumer.log, 'not before the constructor of a consumer has returned').toEqual([]);
    await Promise.resolve();
    expect(consumer.log).toEqual([1, new Error('gone')]);
  });

  it('keeps the order when a consumer causes further items while it is given those that waited', async () => {
    const stream = new MessageStream<number>();
    const log: number[] = [];
    stream.send(1);
    stream.send(2);
    stream.consume({
      onItem: (item) => {
        log.push(item);
        if (item === 1) stream.send(4);
      },
    });
    stream.send(3);
    await Promise.resolve();
    stream.send(5);
    expect(log).toEqual([1, 2, 3, 4, 5]);
  });

  it('closes once, and drops what is sent afterwards', () => {
    const stream = new MessageStream();
    const consumer = recorder();
    stream.consume(consumer);
    stream.close();
    stream.close(new Error('too late'));
    stream.send(1);
    expect(consumer.log).toEqual(['closed']);
    expect(stream.closed).toBe(true);
  });

  it('has one consumer', () => {
    const stream = new MessageStream();
    stream.send(1);
    stream.consume(recorder());
    expect(() => stream.consume(recorder())).toThrow('one consumer');
  });

  it('can be read with for await: items that waited, items that come, then the end', async () => {
    const stream = new MessageStream<unknown>();
    stream.send('waited');
    stream.send(undefined);
    const read: unknown[] = [];
    const reading = (async () => {
      for await (const item of stream) {
        read.push(item);
        if (read.length === 2) stream.send('came');
        if (item === 'came') stream.close(new Error('an error ends the loop too'));
      }
    })();
    await reading;
    expect(read).toEqual(['waited', undefined, 'came']);
  });

  it('can be left in the middle of for await', async () => {
    const stream = new MessageStream<number>();
    for (const item of [1, 2, 3]) stream.send(item);
    for await (const item of stream) if (item === 2) break;
    stream.send(4);
    stream.close();
  });
});

describe('createChannelPair', () => {
  it('joins what one end sends to what the other receives, both ways', () => {
    const [left, right] = createChannelPair();
    const atLeft = recorder();
    const atRight = recorder();
    left.incoming.consume(atLeft);
    right.incoming.consume(atRight);
    left.outgoing.send('to the right');
    right.outgoing.send('to the left');
    left.outgoing.close();
    expect([atLeft.log, atRight.log]).toEqual([['to the left'], ['to the right', 'closed']]);
  });
});
