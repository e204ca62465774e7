// What other programs for code mode have a model read before it writes code, over the same tools and for the same tasks.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonWith } from '../../scripts/python-env.mjs';
import { startNode, startProgram, within } from '../lib/children.mjs';
import { section } from '../report.mjs';
import { directList, tokensOf } from './list-tokens.mjs';
import { installOnce } from './real-tools.mjs';
import { textOf } from './scripted-agents.mjs';
import { peerVersions } from './search-quality.mjs';
import { tasks } from './tasks.mjs';

const cloudflare = ['@cloudflare/codemode@0.5.6', '@modelcontextprotocol/sdk@1.32.2', 'zod@4.6.7', '@cfworker/json-schema@4.1.1'];
const folder = fileURLToPath(new URL('../.peers/code-mode-peers/', import.meta.url));
const taskServers = ['everything', 'filesystem', 'memory'];

/** The part of results.md about peers. `byCode`: how our own agent did the tasks. */
export async function peerTable(tools, byCode) {
  const of = Object.fromEntries(taskServers.map((name) => [name, tools[name]]));
  const peers = await readByPythonPeers(of);
  const toCells = (list, calls, missing) => [
    ...[list, calls, list * tasks.length + calls].map((value) => Math.round(value).toLocaleString('en-US')),
    missing,
  ];
  const rows = [
    ['Notebridge', ...toCells(byCode.list, sum(byCode.played.flatMap(({ turns }) => turns.slice(0, -1).flat().map(ownCost))), '0')],
    ...Object.entries(peers).map(([name, { list, read }]) => {
      const calls = sum(
        read.flatMap((task) => task.calls.map(([tool, args, text]) => tokensOf({ name: tool, arguments: args }) + tokensOf(text))),
      );
      return [`${name} ${peerVersions[name]}`, ...toCells(tokensOf(list), calls, String(read.flatMap(({ missing }) => missing).length))];
    }),
  ];
  const lists = [];
  for (const count of [36, 200, 1000]) {
    const direct = count === 36 ? directList(of, count).list : directList(tools, count).list;
    lists.push(
      tokensOf((await listByCloudflare(direct)).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
    );
  }
  const [few, ...more] = lists;
  rows.push([`${cloudflare[0].replace(/@(?=\d)/, ' ')}, its MCP server`, ...toCells(few, 0, '')]);
  const text = `What a model reads before it writes its code: the list of tools with the instructions, then searches and signatures of the ten tasks, each program with its own tools at
their defaults over the same ${directList(of, 1000).real} tools. The code and its answer are left out: they are alike, and the peers run no code here (one needs a Cloudflare Worker). The searches are the words that our
agents used, which were written with our search at hand; *not found* is how many of the ${sum(tasks.map(({ uses }) => uses.length))} tools these words do not find. agent-codemode gives whole schemas with each
found tool. @cloudflare/codemode puts the types of all tools into its one definition: nothing is searched, and its list grows with the tools, to ${more[0].toLocaleString('en-US')} tokens at 200 and ${more[1].toLocaleString('en-US')} at 1,000;
those of the others do not grow.`;
  return section('Beside other programs, until the code is written', text, [
    ['program', 'list', 'searches and signatures', 'both, ten tasks', 'not found'],
    ...rows,
  ]);
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const ownCost = ({ name, args, result }) => tokensOf({ name, arguments: args }) + tokensOf(textOf(result));

async function readByPythonPeers(tools) {
  const python = await pythonWith(['agent-codemode', 'fastmcp'], { environment: 'agents' });
  const child = startProgram(python, ['-B', fileURLToPath(new URL('peer_surfaces.py', import.meta.url))]);
  return answerOf(child, 'the peers', { tools, tasks: tasks.map(({ queries, uses }) => ({ queries, uses })) });
}

function listByCloudflare(tools) {
  installOnce(folder, cloudflare, ['--legacy-peer-deps']);
  const script = join(folder, 'peer-code-server.mjs');
  copyFileSync(new URL('peer-code-server.mjs', import.meta.url), script);
  return answerOf(startNode([script]), '@cloudflare/codemode', tools);
}

async function answerOf(child, what, given) {
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  child.stdin.end(JSON.stringify(given));
  await within(120_000, what, child.ended);
  if (said === '') throw new Error(`${what} failed: ${child.complaints}`);
  return JSON.parse(said);
}
