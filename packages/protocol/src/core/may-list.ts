import type { Tool } from './mcp.js';
import type { Principal } from './principal.js';

/** Whether a list may show a tool of a server; undefined: a server whose tools are not known, or that has none. */
export type MayList = (server: string, tool: Tool | undefined) => boolean;

/** What lists may show a principal. Its rights are looked up once, for any number of tools in a row: the answer holds until others have their turn. */
export type ListerOf = (principal: Principal) => MayList;
