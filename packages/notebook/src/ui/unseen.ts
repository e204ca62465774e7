import { HostConnection } from './link/connection.js';
import { joinOutputs, receiveForOutputs } from './outputs/host-requests.js';
import { Store } from './state/store.js';

/** A window that nobody sees: it follows the notebook, and draws what the host asks for. */
export function startUnseen(key: string): void {
  const connection = new HostConnection({
    key,
    isUnseen: true,
    onMessage: (message) => {
      store.receive(message);
      receiveForOutputs(message);
    },
    onState: () => {},
  });
  const store = new Store(() => connection.open());
  joinOutputs({ request: (action) => connection.request(action), cells: () => store.cells });
  connection.open();
}
