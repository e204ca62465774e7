// Of questions written beforehand, how often the tool that is meant is found first, or among the first five.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pythonWith } from '../../scripts/python-env.mjs';
import { startProgram, within } from '../lib/children.mjs';

const part = (path) => import(new URL(`../../packages/notebridge/dist/${path}.js`, import.meta.url).href);
/** As `scripts/python-environments.mjs` has them. */
export const peerVersions = { 'agent-codemode': '1.1.1', FastMCP: '4.1.6' };

/** Questions by half and kind: `{ question, tools }`, each of the tools being right. */
export function readQuestions(halves) {
  return halves.flatMap((half) => {
    const kinds = JSON.parse(readFileSync(new URL(`questions-${half}.json`, import.meta.url), 'utf8'));
    return Object.entries(kinds).flatMap(([kind, list]) => list.map((each) => ({ half, kind, ...each })));
  });
}

/** The search of ours over these tools, as agents call it. */
export async function openSearch(tools) {
  const [{ ToolSearch }, { MemoryToolServer, MemoryToolServers }] = await Promise.all([
    part('code-mode/search/tool-search'),
    part('core/memory-tool-server'),
  ]);
  const servers = Object.entries(tools).map(([name, listed]) => new MemoryToolServer({ name, tools: listed, expose: 'code' }));
  const search = new ToolSearch({ servers: new MemoryToolServers(servers), listerOf: () => () => true });
  const context = { caller: {}, signal: new AbortController().signal };
  return (params) => search.search(params, context);
}

/** Names that each search finds, best first, by program: a list for each question. */
export async function findAll(tools, questions) {
  const search = await openSearch(tools);
  const ours = [];
  for (const { question } of questions) {
    const { structuredContent } = await search({ query: question });
    ours.push(structuredContent.results.map(({ server, tool }) => `${server}.${tool}`));
  }
  return { Notebridge: ours, ...(await findByPeers(tools, questions)) };
}

async function findByPeers(tools, questions) {
  const python = await pythonWith(['agent-codemode', 'fastmcp'], { environment: 'agents' });
  const child = startProgram(python, ['-B', fileURLToPath(new URL('peer_searches.py', import.meta.url))]);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  child.stdin.end(JSON.stringify({ tools, questions: questions.map(({ question }) => question) }));
  await within(120_000, 'the searches of the peers', child.ended);
  if (said === '') throw new Error(`The searches of the peers failed: ${child.complaints}`);
  return JSON.parse(said);
}

/** The share of the questions whose tool is among the first `count`. */
export function hitRate(questions, found, count) {
  const hits = questions.filter(({ tools }, at) => found[at].slice(0, count).some((name) => tools.includes(name)));
  return hits.length / questions.length;
}
