// The bare limit of the crossing agent → page: JSON lines on stdin and stdout, one page on a WebSocket, and between them only what no
// bridge can leave out: parse each message, give the request an id of its own, put the old one back, print. No checks, no MCP.
// It writes once per turn of the loop, as Notebridge does, so that the ratio shows what the bridge adds and not a saved system call;
// with --each it writes every message by itself, as most relays do.
import { WebSocketServer } from './lib/websocket.mjs';

const writesEach = process.argv.includes('--each');
/** The agent's id of each request that the page has not answered. */
const agentIds = new Map();
let lastId = 0;
let page;
let started = '';
let lines = '';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, handleProtocols: () => 'mcp' }, () => {
  process.stderr.write(`page ${server.address().port} none\n`);
});
server.on('connection', (socket, { socket: stream }) => {
  page = { socket, stream, corked: false };
  socket.on('message', (data) => toAgent(JSON.parse(data.toString())));
});

process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const texts = (started + chunk).split('\n');
  started = texts.pop();
  for (const text of texts) if (text !== '') toPage(JSON.parse(text));
});
process.stdin.on('end', () => process.exit());

function toPage(message) {
  if (page === undefined) return;
  if (message.id !== undefined) {
    agentIds.set(++lastId, message.id);
    message.id = lastId;
  }
  if (!page.corked && !writesEach) {
    page.corked = true;
    page.stream.cork();
    queueMicrotask(() => {
      page.corked = false;
      page.stream.uncork();
    });
  }
  page.socket.send(JSON.stringify(message));
}

function toAgent(message) {
  if (message.id !== undefined) {
    const id = agentIds.get(message.id);
    agentIds.delete(message.id);
    message.id = id;
  }
  if (lines === '' && !writesEach) setImmediate(flush);
  lines += `${JSON.stringify(message)}\n`;
  if (writesEach) flush();
}

function flush() {
  process.stdout.write(lines);
  lines = '';
}
