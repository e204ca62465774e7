import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { proxyPath } from './proxy-path.js';
import { isPlain, quoted } from './shell-words.js';

interface CallOfTool {
  origin: string;
  server: string;
  tool: string;
  /** The arguments, as JSON. */
  json: string;
}

export interface Spelling {
  title: string;
  text: string;
}

/** The same call for elsewhere. No token stands in any of them: they name a variable. */
export function spellingsOf(call: CallOfTool): Spelling[] {
  return [
    // A name that cannot be seen whole is not for a shell.
    ...(isPlain(call.server) && isPlain(call.tool) ? [{ title: 'notebridge call', text: commandOf(call) }] : []),
    { title: 'curl', text: curlOf(call) },
    { title: 'Python', text: pythonOf(call) },
    { title: 'TypeScript', text: typeScriptOf(call) },
  ];
}

function commandOf({ server, tool, json }: CallOfTool): string {
  // A name like `-o.profile` would be an option: of which file is written.
  const end = [server, tool].some((name) => name.startsWith('-')) ? '-- ' : '';
  return `notebridge call ${end}${quoted(server)} ${quoted(tool)} ${quoted(compact(json))}`;
}

function curlOf({ origin, server, tool, json }: CallOfTool): string {
  return [
    grantLine(server, tool),
    `curl -s ${quoted(`${origin}${proxyPath(server, tool)}`)} \\`,
    `  -H "Authorization: Bearer $NOTEBRIDGE_TOKEN" -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(`{"arguments":${compact(json)}}`)}`,
  ].join('\n');
}

function pythonOf({ origin, server, tool, json }: CallOfTool): string {
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(`${origin}${proxyPath(server, tool)}`)},
    data=${JSON.stringify(`{"arguments":${compact(json)}}`)}.encode(),
    headers={"Authorization": "Bearer " + os.environ["NOTEBRIDGE_TOKEN"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
if not answer["success"]:
    raise RuntimeError(answer["error"])
print(answer["result"])`;
}

/** The body is a text: as a value, numbers would lose digits. */
function typeScriptOf({ origin, server, tool, json }: CallOfTool): string {
  return `const response = await fetch(${JSON.stringify(`${origin}${proxyPath(server, tool)}`)}, {
  method: "POST",
  headers: { Authorization: \`Bearer \${process.env.NOTEBRIDGE_TOKEN}\`, "Content-Type": "application/json" },
  body: ${JSON.stringify(`{"arguments":${compact(json)}}`)},
});
const answer = (await response.json()) as { success: boolean; result?: unknown; error?: string };
if (!answer.success) throw new Error(answer.error ?? JSON.stringify(answer));
console.log(answer.result);`;
}

function grantLine(server: string, tool: string): string {
  const pattern = isWord(server) ? `${server}:${isWord(tool) ? tool : '*'}` : '*:*';
  return `export NOTEBRIDGE_TOKEN=$(notebridge grant --allow ${quoted(pattern)})`;
}

/** Whether a name may stand in a pattern, and means itself there. */
function isWord(name: string): boolean {
  return isPlain(name) && /^[^\s,*]{1,200}$/.test(name);
}

/** JSON on one line; a character that cannot be seen is written by its number. */
function compact(json: string): string {
  return printJson(parseJson(json)).replaceAll(/[^\x20-\x7e]/g, (unit) =>
    isPlain(unit) && !/[\ud800-\udfff]/.test(unit) ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
