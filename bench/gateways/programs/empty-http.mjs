// The limit: what a call costs in node:http itself.
//   node empty-http.mjs PORT [--echo]     reads the body and answers with fixed bytes; --echo: with the tool's answer, in this process
import { createServer } from 'node:http';
import { createEcho } from '../echo-tools.mjs';

const fixed = Buffer.from('{"result":{"content":[{"type":"text","text":"the same answer to every call, of the size of an echo"}]}}');
const [port, mode] = process.argv.slice(2);

let answering;
const handle = createEcho((text) => send(answering, Buffer.from(text)));

createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    if (mode !== '--echo') return send(response, fixed);
    answering = response;
    handle({ id: 1, method: 'tools/call', params: JSON.parse(parts.length === 1 ? parts[0] : Buffer.concat(parts)) });
  });
}).listen(Number(port), '127.0.0.1');

function send(response, body) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
