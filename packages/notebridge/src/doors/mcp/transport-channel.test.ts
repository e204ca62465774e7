import { describe, expect, it, vi } from 'vitest';
import { createTransportChannel, type SdkTransport } from './transport-channel.js';

describe('createTransportChannel', () => {
  it('starts the transport, and carries messages both ways as they are', async () => {
    const transport = new LoopTransport();
    const { incoming, outgoing } = await createTransportChannel(transport);
    const received: unknown[] = [];
    incoming.consume({ onItem: (message) => received.push(message) });
    const message = { jsonrpc: '2.0', x: [null] };
    outgoing.send(message);
    expect(received).toEqual([message]);
    expect(received[0]).toBe(message);
    expect(transport.calls).toEqual(['start', 'send']);
  });

  it('keeps what comes before anyone listens', async () => {
    const transport = new LoopTransport();
    const { incoming } = await createTransportChannel(transport);
    transport.onmessage?.('early' as never);
    const received: unknown[] = [];
    incoming.consume({ onItem: (message) => received.push(message) });
    await Promise.resolve();
    expect(received).toEqual(['early']);
  });

  it('closes with the transport, and the transport with it', async () => {
    const transport = new LoopTransport();
    const { incoming, outgoing } = await createTransportChannel(transport);
    outgoing.close();
    expect(transport.calls).toEqual(['start', 'close']);
    expect(incoming.closed).toBe(true);
  });

  it.each(['rejects', 'throws'] as const)('closes with the error when a message cannot be sent: the transport %s', async (how) => {
    const transport = new LoopTransport();
    const broken = new Error('gone');
    transport.send = () => {
      if (how === 'throws') throw broken;
      return Promise.reject(broken);
    };
    const { incoming, outgoing } = await createTransportChannel(transport);
    const onClose = vi.fn();
    incoming.consume({ onItem: () => {}, onClose });
    outgoing.send({});
    await vi.waitUntil(() => incoming.closed, 20_000);
    expect(onClose).toHaveBeenCalledExactlyOnceWith(broken);
  });
});

class LoopTransport implements SdkTransport {
  readonly calls: string[] = [];
  onmessage?: (message: never) => void;
  onclose?: () => void;

  async start(): Promise<void> {
    this.calls.push('start');
  }

  async send(message: never): Promise<void> {
    this.calls.push('send');
    this.onmessage?.(message);
  }

  async close(): Promise<void> {
    this.calls.push('close');
    this.onclose?.();
  }
}
