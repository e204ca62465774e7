// The least that a tool proxy can do: POST /call {name, arguments} → a line for one tool server → the bytes of its answer, spliced
// into the response without parsing them. No grant, no log, no time-outs, no checks.
//   node rest-twin.mjs PORT TOOL_SERVER.mjs
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const begin = Buffer.from('{');
const prefix = Buffer.from('{"jsonrpc":"2.0","id":');

const [port, toolServer] = process.argv.slice(2);
const child = spawn(process.execPath, [toolServer], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let lastId = 0;
let isCorked = false;

child.once('exit', () => process.exit(1));
process.once('SIGTERM', () => {
  child.kill();
  process.exit(0);
});
child.stdout.on('data', splice());
const initialized = new Promise((resolve) => {
  waiting.set(++lastId, { writeHead() {}, end: resolve });
});
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'rest-twin', version: '1' } };
write(JSON.stringify({ jsonrpc: '2.0', id: lastId, method: 'initialize', params }));
await initialized;
write('{"jsonrpc":"2.0","method":"notifications/initialized"}');

createServer((request, response) => {
  if (request.method !== 'POST' || request.url !== '/call') return response.writeHead(404).end();
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const call = JSON.parse(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    const id = ++lastId;
    waiting.set(id, response);
    write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${JSON.stringify({ name: call.name, arguments: call.arguments })}}`);
  });
}).listen(Number(port), '127.0.0.1');

/** One system call for all that is written in one turn of the loop. */
function write(line) {
  if (!isCorked) {
    isCorked = true;
    child.stdin.cork();
    setImmediate(() => {
      isCorked = false;
      child.stdin.uncork();
    });
  }
  child.stdin.write(`${line}\n`);
}

/** Reads the tool server's lines; a large answer is passed on chunk by chunk, while it comes. */
function splice() {
  let held;
  let passing;
  return (chunk) => {
    const bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(10, from);
      const line = bytes.subarray(from, end < 0 ? bytes.length : end);
      from += line.length + 1;
      if (passing !== undefined) {
        passing.write(line);
        if (end < 0) continue;
        passing.end();
        passing = undefined;
      } else if (end >= 0) {
        sendWhole(line);
      } else if (line.length < 16_384) {
        held = Buffer.from(line);
      } else {
        passing = beginLarge(line);
      }
    }
  };
}

function sendWhole(line) {
  const [response, after] = responseOf(line);
  if (response === undefined) return;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': line.length - after + 1 });
  response.end(Buffer.concat([begin, line.subarray(after)]));
}

function beginLarge(line) {
  const [response, after] = responseOf(line);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(begin);
  response.write(line.subarray(after));
  return response;
}

/** Who waits for the answer, and where its bytes go on after the id. Our tool server writes the id first. */
function responseOf(line) {
  if (line.compare(prefix, 0, prefix.length, 0, prefix.length) !== 0) return [];
  const comma = line.indexOf(44, prefix.length);
  const id = Number(line.latin1Slice(prefix.length, comma));
  const response = waiting.get(id);
  waiting.delete(id);
  return [response, comma + 1];
}
