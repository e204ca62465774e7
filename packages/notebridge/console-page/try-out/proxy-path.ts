import { encodeName } from '../route.js';

/** Where the tool proxy takes calls of a tool. */
export function proxyPath(server: string, tool: string): string {
  return `/api/v1/mcp/proxy/${encodeName(server)}/tools/${encodeName(tool)}`;
}
