import type { ViewerAction } from '../../viewer/protocol.js';
import { outputHost, receiveForOutputs } from '../outputs/host-requests.js';
import { Store } from '../state/store.js';
import { HostConnection } from './connection.js';

/** The notebook as its host sends it, from `connection.open()` on. `isUnseen`: no person looks at the window, which draws what the host asks for. */
export function createLink(key: string, isUnseen = false): { connection: HostConnection; store: Store } {
  const connection = new HostConnection({
    key,
    isUnseen,
    onMessage: (message) => {
      receiveForOutputs(message);
      store.receive(message);
    },
    onState: (state) => store.setLink(state),
  });
  const store = new Store(() => connection.open());
  Object.assign(outputHost, { request: (action: ViewerAction) => connection.request(action), cells: () => store.cells });
  return { connection, store };
}
