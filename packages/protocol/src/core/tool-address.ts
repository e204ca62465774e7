/** What a call is aimed at, whatever name the caller used. */
export interface ToolAddress {
  server: string;
  /** The server's own name of the tool. */
  tool: string;
}

/** What the tools of code mode are called in patterns of grants: `code-mode:execute_code`. */
export const codeModeServer = 'code-mode';
