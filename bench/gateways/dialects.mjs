// How a target is spoken to. A dialect opens a caller on a connection: `toRequest(tool, args)` gives the request of a call, and
// `toText(answer)` the text in its answer.

const json = 'content-type: application/json\r\n';
const jsonOrEvents = `${json}accept: application/json, text/event-stream\r\n`;
const clientInfo = { name: 'bench', version: '1' };

/** Plain HTTP: the same for every connection. `toText` gets the parsed body. */
export function rest({ toPath, toBody, toText, headers = '' }) {
  return async () => ({
    toRequest: (tool, args) => ({ path: toPath(tool), headers: json + headers, body: JSON.stringify(toBody(tool, args)) }),
    toText: (answer) => toText(JSON.parse(expectGood(answer).body)),
  });
}

/** MCP over Streamable HTTP, as of 2025-11-25: one session for each caller. */
export function streamableHttp({ path = '/mcp', headers = '', toName = (tool) => tool } = {}) {
  return async (connection) => {
    let own = jsonOrEvents + headers;
    let lastId = 0;
    const toMessage = (method, params) => ({ path, headers: own, body: JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params }) });
    const answer = await connection.send(toMessage('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }));
    const session = /\nmcp-session-id: *(\S+)/i.exec(answer.head)?.[1];
    if (session !== undefined) own += `mcp-session-id: ${session}\r\n`;
    own += `mcp-protocol-version: ${toResult(answer).protocolVersion}\r\n`;
    await connection.send({ path, headers: own, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
    return {
      toRequest: (tool, args) => toMessage('tools/call', { name: toName(tool), arguments: args }),
      toText: (answer) => textIn(toResult(answer)),
    };
  };
}

/** MCP over Streamable HTTP, as of 2026-07-28: no session; each request says whose it is, and its headers say what it is. */
export function statelessHttp({ path = '/mcp', headers = '', toName = (tool) => tool } = {}) {
  const version = '2026-07-28';
  const key = (name) => `io.modelcontextprotocol/${name}`;
  const _meta = { [key('protocolVersion')]: version, [key('clientInfo')]: clientInfo, [key('clientCapabilities')]: {} };
  const method = 'tools/call';
  const own = `${jsonOrEvents}mcp-protocol-version: ${version}\r\nmcp-method: ${method}\r\n${headers}`;
  let lastId = 0;
  return async () => ({
    toRequest: (tool, args) => ({
      path,
      headers: `${own}mcp-name: ${toName(tool)}\r\n`,
      body: JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params: { name: toName(tool), arguments: args, _meta } }),
    }),
    toText: (answer) => textIn(toResult(answer)),
  });
}

/** The text of a tool's result. */
export function textIn(result) {
  if (result.isError === true) throw new Error(`The tool failed: ${JSON.stringify(result).slice(0, 200)}`);
  return result.content?.[0]?.text;
}

/** The result in a JSON body, or in the one event of a stream that has an answer. */
function toResult(answer) {
  const { head, body } = expectGood(answer);
  const messages = head.includes('text/event-stream') ? eventsOf(body.toString()) : [JSON.parse(body)];
  const found = messages.find(({ method }) => method === undefined);
  if (found?.result === undefined) throw new Error(`No result: ${JSON.stringify(found ?? null).slice(0, 200)}`);
  return found.result;
}

function eventsOf(text) {
  return text
    .split('\n')
    .filter((line) => /^data: *\{/.test(line))
    .map((line) => JSON.parse(line.slice(5)));
}

function expectGood(answer) {
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${answer.body.toString().slice(0, 200)}`);
  return answer;
}
