import type { BridgeError } from '@notebridge/protocol/core/errors';
import type { RpcId, RpcNotification } from '@notebridge/protocol/rpc/messages';
import { Peer, type PeerOptions } from '@notebridge/protocol/rpc/peer';
import { expect, onTestFinished } from 'vitest';
import { FarEnd } from './far-end.js';

export interface OpenedPeer {
  peer: Peer;
  far: FarEnd;
  notifications: RpcNotification[];
  faults: { error: BridgeError; id: RpcId | null }[];
  unsent: unknown[];
  /** One entry for each time that the peer said it was closed. */
  closed: (Error | undefined)[];
}

/** A peer that answers requests with their params, its far end, and all that it reports. It must end without a call in flight. */
export function openPeer(options: Partial<PeerOptions> = {}): OpenedPeer {
  const far = new FarEnd();
  const reports: Omit<OpenedPeer, 'peer' | 'far'> = { notifications: [], faults: [], unsent: [], closed: [] };
  const peer = new Peer({
    channel: far.channel,
    onRequest: async ({ params = {} }) => params,
    onNotification: (notification) => reports.notifications.push(notification),
    onFault: (error, id) => reports.faults.push({ error, id }),
    onUnsent: (error) => reports.unsent.push(error),
    onClose: (error) => reports.closed.push(error),
    ...options,
  });
  onTestFinished(() => expect(peer.inFlight, 'calls left in flight').toEqual({ waiting: 0, serving: 0 }));
  return { peer, far, ...reports };
}

/** JSON nested deeper than the engine can print. */
export const tooDeepText = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
