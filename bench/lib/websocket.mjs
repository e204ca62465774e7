import { createRequire } from 'node:module';

/** The `ws` that the package itself uses, so that all ends of the bench are of one version. */
export const { WebSocket, WebSocketServer } = createRequire(new URL('../../packages/notebridge/package.json', import.meta.url))('ws');
