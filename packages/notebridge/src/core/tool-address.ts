/** What a call is aimed at, whatever name the caller used. */
export interface ToolAddress {
  server: string;
  /** The server's own name of the tool. */
  tool: string;
}
