import { type Channel, MessageStream } from '@notebridge/protocol/rpc/message-stream';

/** The part of the MCP SDKs' `Transport` that a door needs; v1 and v2 agree on it. */
export interface SdkTransport {
  start(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs' own message type is narrower than ours and differs between them
  send(message: any): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** A channel over a transport, started. */
export async function createTransportChannel(transport: SdkTransport): Promise<Channel> {
  const incoming = new MessageStream<unknown>();
  const outgoing = new MessageStream<unknown>();
  transport.onmessage = (message: unknown) => incoming.send(message);
  transport.onclose = () => incoming.close();
  const send = async (message: unknown): Promise<void> => {
    try {
      await transport.send(message);
    } catch (error) {
      incoming.close(error instanceof Error ? error : new Error(String(error)));
    }
  };
  outgoing.consume({ onItem: (message) => void send(message), onClose: () => void transport.close().catch(() => {}) });
  await transport.start();
  return { incoming, outgoing };
}
