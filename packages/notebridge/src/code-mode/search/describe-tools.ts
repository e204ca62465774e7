import { BridgeError } from '../../core/errors.js';
import { type ToolResult, toTextResult } from '../../core/mcp.js';
import type { ToolAddress } from '../../core/tool-address.js';
import { TimeSlices } from '../../util/time-slices.js';
import type { ResolveName } from './spellings.js';
import type { ToolView } from './tool-view.js';
import { writeStubs } from './write-stubs.js';

/** Others have a turn when names were looked for so long. Milliseconds. */
const turnMs = 5;

/** The functions of tools, in whatever spelling their names are. Throws `unknown_tool` if none means a tool. */
export async function describeTools(view: ToolView, names: readonly string[], resolveName: ResolveName): Promise<ToolResult> {
  const spellings = await view.spellings();
  const turns = new TimeSlices(turnMs);
  const found = new Map<string, ToolAddress>();
  const notes: string[] = [];
  for (const name of names) {
    const address = spellings.resolve(name, resolveName);
    if (address === undefined) notes.push(spellings.complain(name));
    else found.set(`${address.server}\0${address.tool}`, address);
    await turns.pause();
  }
  const leftOut = view.leftOut();
  if (leftOut !== '') notes.push(leftOut);
  if (found.size === 0) throw new BridgeError('unknown_tool', notes.join('\n'));
  const written = await writeStubs(await view.stubs(), [...found.values()]);
  return toTextResult([written.text, [...written.notes, ...notes].join('\n')].filter((part) => part !== '').join('\n\n\n'));
}
