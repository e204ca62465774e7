// Many pages in one process, for round.mjs: `open` dials with each token, `closed` waits until all have gone.

import { WebSocket } from '../lib/websocket.mjs';

const open = new Set();
const onEmpty = new Set();

process.on('message', async ({ id, what, port, tokens }) => {
  if (what === 'open') await Promise.all(tokens.map((token) => dial(port, token)));
  else if (open.size > 0) await new Promise((resolve) => onEmpty.add(resolve));
  process.send({ id });
});

function dial(port, token) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?access_token=${token}`, ['mcp'], {
    origin: 'https://colab.research.google.com',
    perMessageDeflate: false,
  });
  open.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => {
    open.delete(socket);
    if (open.size === 0) for (const resolve of onEmpty) resolve();
  });
  socket.on('message', (data) => {
    const { id, method, params } = JSON.parse(data.toString());
    if (id !== undefined) socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) }));
  });
  return new Promise((resolve) => socket.once('open', resolve));
}

function answer(method, params) {
  if (method === 'initialize')
    return { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'bench-page', version: '1' } };
  if (method === 'tools/list') return { tools: [{ name: 'get_cells', inputSchema: { type: 'object' } }] };
  return { content: [{ type: 'text', text: 'ok' }] };
}
