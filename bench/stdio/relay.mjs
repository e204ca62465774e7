// The bare limit of the way agent → tool server, both on stdio: `node relay.mjs [--each] FILE`. It starts the server, parses each message, gives
// the request an id of its own, puts the old one back, and prints. No checks, no MCP. It writes once per turn of the loop, as Notebridge does;
// with --each it writes every message by itself, as most relays do.
import { spawn } from 'node:child_process';

const writesEach = process.argv.includes('--each');
const server = spawn(process.execPath, [process.argv.at(-1)], { stdio: ['pipe', 'pipe', 'inherit'] });
/** The agent's id of each request that the server has not answered. */
const agentIds = new Map();
let lastId = 0;

pass(process.stdin, server.stdin, (message) => {
  if (message.id === undefined) return;
  agentIds.set(++lastId, message.id);
  message.id = lastId;
});
pass(server.stdout, process.stdout, (message) => {
  if (message.id === undefined) return;
  const id = agentIds.get(message.id);
  agentIds.delete(message.id);
  message.id = id;
});
process.stdin.on('end', () => server.stdin.end());
server.on('exit', () => process.exit());

function pass(from, to, change) {
  let started = '';
  let lines = '';
  const flush = () => {
    to.write(lines);
    lines = '';
  };
  from.setEncoding('utf8').on('data', (chunk) => {
    const texts = (started + chunk).split('\n');
    started = texts.pop();
    for (const text of texts) {
      if (text === '') continue;
      const message = JSON.parse(text);
      change(message);
      if (lines === '' && !writesEach) setImmediate(flush);
      lines += `${JSON.stringify(message)}\n`;
      if (writesEach) flush();
    }
  });
}
