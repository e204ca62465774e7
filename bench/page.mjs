// A page that does as little as a page can, in a process of its own, so that its work is never counted as the bridge's.
//   node page.mjs PORT TOKEN      prints "open" when it is let in, "gone" when the other side hangs up; ends with its stdin

import { textOfSize } from './lib/payload.mjs';
import { WebSocket } from './lib/websocket.mjs';

const [port, token] = process.argv.slice(2);
const socket = new WebSocket(`ws://127.0.0.1:${port}/?access_token=${token}`, ['mcp'], {
  origin: 'https://colab.research.google.com',
  perMessageDeflate: false,
});
let stream;
let isCorked = false;

socket.on('upgrade', (response) => {
  stream = response.socket;
});
socket.on('open', () => process.stdout.write('open\n'));
socket.on('error', (error) => process.stderr.write(`page: ${error.message}\n`));
socket.on('close', () => process.stdout.write('gone\n', () => process.exit()));
socket.on('message', (data) => {
  const { id, method, params } = JSON.parse(data.toString());
  if (id === undefined) return;
  const result = answers[method]?.(params);
  send(
    `{"jsonrpc":"2.0","id":${id},${result === undefined ? '"error":{"code":-32601,"message":"No such method"}' : `"result":${result}`}}`,
  );
});
process.stdin.on('end', () => process.exit()).resume();

const tools = [
  { name: 'echo', description: 'Returns its text.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
  { name: 'payload', description: 'Returns so many letters.', inputSchema: { type: 'object', properties: { size: { type: 'integer' } } } },
];

/** The result of each method, already printed: what is always the same is printed once. */
const answers = {
  initialize: ({ protocolVersion }) =>
    JSON.stringify({ protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'bench-page', version: '1' } }),
  ping: () => '{}',
  'tools/list': once(() => JSON.stringify({ tools })),
  'tools/call': ({ name, arguments: args }) => (name === 'payload' ? printedPayload(args.size) : toText(args.text)),
};

const payloads = new Map();
function printedPayload(size) {
  if (!payloads.has(size)) payloads.set(size, toText(textOfSize(size)));
  return payloads.get(size);
}

function toText(text) {
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]}`;
}

function once(make) {
  let made;
  return () => {
    made ??= make();
    return made;
  };
}

function send(text) {
  if (!isCorked) {
    isCorked = true;
    stream.cork();
    queueMicrotask(() => {
      isCorked = false;
      stream.uncork();
    });
  }
  socket.send(text);
}
