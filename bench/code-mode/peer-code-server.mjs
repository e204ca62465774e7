// The MCP server of @cloudflare/codemode over given tools. Copied beside its packages; takes tools as JSON on stdin, prints its list of tools.
import { codeMcpServer } from '@cloudflare/codemode/mcp';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const tools = JSON.parse(text);
const server = new Server({ name: 'tools', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
// Nothing is run: its executor is a Cloudflare Worker.
const executor = { execute: () => Promise.reject(new Error('not here')) };
const [own, other] = InMemoryTransport.createLinkedPair();
await (await codeMcpServer({ server, executor })).connect(own);
const client = new Client({ name: 'bench', version: '1' });
await client.connect(other);
const { tools: listed } = await client.listTools();
process.stdout.write(JSON.stringify(listed), () => process.exit(0));
