import type { ClusterBus } from '../cluster-bus.js';
import type { NatsLink } from './nats-link.js';

/** Plain messages of NATS. Each subject is put below that of the cluster, so that two clusters at one NATS never meet. */
export function createNatsBus(link: NatsLink, clusterName: string): ClusterBus {
  const prefix = `notebridge.${clusterName}.`;
  return {
    get maxPayload() {
      return link.maxPayload;
    },
    get isConnected() {
      return link.isConnected;
    },
    publish: (subject, payload) => link.send(`${prefix}${subject}`, payload),
    subscribe: (subject, listener) => {
      const subscription = link.listen(`${prefix}${subject}`, ({ data }) => listener(data));
      return () => subscription.unsubscribe();
    },
    onConnection: (listener) => link.onConnection(listener),
  };
}
