/** Where the tool proxy takes calls of a tool. */
export function proxyPath(server: string, tool: string): string {
  return `/api/v1/mcp/proxy/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}`;
}
