import type { JsonObject } from '@notebridge/notebook';
import type { DemoAgent } from './demo-agent.js';
import { expectSame, expectThat } from './expect.js';
import { type DemoFilesystem, readFolder } from './filesystem.js';

export interface TwoWaysOptions {
  /** Starts a Notebridge with these arguments of `stdio`. */
  startAgent: (args: readonly string[]) => DemoAgent;
  filesystem: DemoFilesystem;
}

/** How many of the largest files are asked for. */
const wanted = 3;

/** What a model reads and writes is counted in characters: no tokenizer comes with us. A token of English or code is about four of them. */
const charactersPerToken = 4;

/** One task by direct calls and in code mode, each by an agent of its own; in words, with what a model would have read. */
export async function compareTwoWays({ startAgent, filesystem: { folder } }: TwoWaysOptions): Promise<string> {
  const direct = await work(startAgent([]), (agent) => findDirectly(agent, folder));
  const byCode = await work(startAgent(['--code-mode']), (agent) => findByCode(agent, folder));
  const onDisk = (await readFolder(folder)).slice(0, wanted).map(({ bytes }) => bytes);
  expectSame('the sizes on the disk', direct.answer, onDisk);
  expectSame('by code the same answer:', byCode.answer, direct.answer);
  expectThat(byCode.tokens < direct.tokens, `fewer tokens than ${direct.tokens}`, byCode.tokens);
  const say = ({ tools, calls, tokens }: Way): string =>
    `${tools} tools listed, ${calls} calls, about ${tokens.toLocaleString('en-US')} tokens`;
  return `the ${wanted} largest files have ${onDisk.join(', ')} bytes, both ways. Direct: ${say(direct)}. In code mode: ${say(byCode)} (${charactersPerToken} characters are taken for one)`;
}

interface Way {
  answer: number[];
  tools: number;
  calls: number;
  tokens: number;
}

/** Counts the list of tools, the instructions, the arguments of each call and the text of each answer. */
async function work(agent: DemoAgent, task: (call: Call) => Promise<number[]>): Promise<Way> {
  try {
    await agent.initialize();
    const { tools, instructions } = await agent.offers();
    let characters = instructions.length + JSON.stringify(tools.map(toShown)).length;
    let calls = 0;
    const answer = await task(async (name, args, options) => {
      const { text, texts } = await agent.succeed(name, args, options);
      characters += JSON.stringify({ name, arguments: args }).length + texts.join('').length;
      calls++;
      return text;
    });
    return { answer, tools: tools.length, calls, tokens: Math.round(characters / charactersPerToken) };
  } finally {
    await agent.close();
  }
}

type Call = (name: string, args: JsonObject, options?: { quietly?: boolean }) => Promise<string>;

async function findDirectly(call: Call, folder: string): Promise<number[]> {
  const tree = await call('filesystem__directory_tree', { path: folder });
  const paths = filesIn(JSON.parse(tree) as Entry[], `${folder}/`);
  // One call a file: a person need not see them all.
  const infos = await Promise.all(paths.map((path, at) => call('filesystem__get_file_info', { path }, { quietly: at > 0 })));
  const sizes = infos.map((info) => Number(/^size: (\d+)$/m.exec(info)?.[1]));
  return sizes.sort((one, other) => other - one).slice(0, wanted);
}

async function findByCode(call: Call, folder: string): Promise<number[]> {
  await call('search_tools', { query: 'tree of a folder, size of a file', limit: 5 });
  await call('describe_tools', { tools: ['filesystem.directory_tree', 'filesystem.get_file_info'] });
  return JSON.parse(await call('execute_code', { code: codeFor(folder) })) as number[];
}

function codeFor(folder: string): string {
  return `import asyncio, json, re
from generated.mcp.filesystem import directory_tree, get_file_info

def files_in(entries, path):
    for entry in entries:
        below = entry.get("children")
        yield from [path + entry["name"]] if below is None else files_in(below, path + entry["name"] + "/")

folder = ${JSON.stringify(folder)}
tree = json.loads((await directory_tree(path=folder))["content"])
infos = await asyncio.gather(*(get_file_info(path=path) for path in files_in(tree, folder + "/")))
sorted((int(re.search(r"size: (\\d+)", info["content"])[1]) for info in infos), reverse=True)[:${wanted}]`;
}

interface Entry {
  name: string;
  children?: Entry[];
}

function filesIn(entries: readonly Entry[], above: string): string[] {
  return entries.flatMap(({ name, children }) => (children === undefined ? [above + name] : filesIn(children, `${above}${name}/`)));
}

/** Only what hosts hand to models. */
function toShown({ name, description, inputSchema }: JsonObject): JsonObject {
  return { name, description, inputSchema };
}
