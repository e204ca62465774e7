import type { Channel } from '@notebridge/protocol/rpc/message-stream';

/** Hands everything on between a client and a server, both as this process sees them. Resolves when either is gone, with why. */
export function relayChannels(client: Channel, server: Channel): Promise<{ gone: 'client' | 'server'; error: Error | undefined }> {
  return new Promise((resolve) => {
    const pass = (from: Channel, to: Channel, gone: 'client' | 'server'): void => {
      from.incoming.consume({
        onItem: (message) => to.outgoing.send(message),
        onClose: (error) => {
          to.outgoing.close();
          resolve({ gone, error });
        },
      });
    };
    pass(client, server, 'client');
    pass(server, client, 'server');
  });
}
