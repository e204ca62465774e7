import type { ToolServer } from '@notebridge/protocol/core/tool-server';

/** Agents pay for every word with each session: so many characters of one server, and of all. */
const most = { ofOne: 2000, ofAll: 8000 };

/** The instructions of servers for agents: each under the name of its server, cut short where they are long. Undefined: there are none. */
export function describeUse(servers: readonly ToolServer[]): string | undefined {
  let left = most.ofAll;
  const parts: string[] = [];
  for (const { name, instructions } of servers) {
    const said = instructions?.trim() ?? '';
    if (said === '') continue;
    const room = Math.min(most.ofOne, left);
    const text = said.length > room ? `${said.slice(0, room)}… (cut short)` : said;
    if (room > 0) parts.push(`The server "${name}" says of its use:\n${text}`);
    left -= Math.min(said.length, room);
  }
  return parts.join('\n\n') || undefined;
}
