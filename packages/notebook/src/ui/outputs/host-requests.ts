import type { ViewerAction } from '../../viewer/protocol.js';

type Request = (action: ViewerAction) => Promise<unknown>;

let request: Request = () => Promise.reject(new Error('the notebook is not connected'));

/** How outputs reach the notebook's host: given once, by whoever opens the connection. */
export function joinOutputs(toHost: Request): void {
  request = toHost;
}

export function askHost(action: ViewerAction): Promise<unknown> {
  return request(action);
}
