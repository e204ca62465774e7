/** The agent hosts of `notebridge setup`, as far as this page shows them. A test compares it with the command's own list. */
export interface AgentHost {
  name: string;
  title: string;
  /** Where its servers stand; undefined where the file has commands only. */
  snippet: ((url: string) => string) | undefined;
  /** The host's own command that does the same. */
  ownCommand: ((url: string) => string) | undefined;
  /** What to do in the host afterwards. */
  afterwards: string;
}

const longestCallSeconds = 3600;

export const agentHosts: readonly AgentHost[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    snippet: (url) => json('mcpServers', { type: 'http', url, headers: bearer() }),
    ownCommand: (url) =>
      `claude mcp add --scope user --transport http notebridge ${url} --header 'Authorization: Bearer \${NOTEBRIDGE_AGENT_TOKEN}'`,
    afterwards: 'Start a new Claude Code session, then type /mcp to see it.',
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    snippet: undefined,
    ownCommand: undefined,
    afterwards: 'Quit Claude Desktop and start it again.',
  },
  {
    name: 'cursor',
    title: 'Cursor',
    snippet: (url) => json('mcpServers', { url, headers: bearer('env:') }),
    ownCommand: undefined,
    afterwards: 'Restart Cursor; its settings list it under MCP.',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    snippet: (url) => json('servers', { type: 'http', url, headers: bearer('env:') }),
    ownCommand: undefined,
    afterwards: 'In VS Code, run "MCP: List Servers" and start it there.',
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    snippet: (url) => json('mcpServers', { httpUrl: url, headers: bearer(), timeout: longestCallSeconds * 1000 }),
    ownCommand: undefined,
    afterwards: 'Start Gemini CLI again, then type /mcp to see it.',
  },
  {
    name: 'codex',
    title: 'Codex',
    snippet: (url) =>
      [
        '[mcp_servers.notebridge]',
        `url = ${JSON.stringify(url)}`,
        'bearer_token_env_var = "NOTEBRIDGE_AGENT_TOKEN"',
        'startup_timeout_sec = 60',
        `tool_timeout_sec = ${longestCallSeconds}`,
      ].join('\n'),
    ownCommand: (url) => `codex mcp add notebridge --url ${url} --bearer-token-env-var NOTEBRIDGE_AGENT_TOKEN`,
    afterwards: 'Start a new Codex session, then type /mcp to see it.',
  },
];

/** A variable, as hosts write it: never the token. */
function bearer(prefix = ''): object {
  return { Authorization: `Bearer \${${prefix}NOTEBRIDGE_AGENT_TOKEN}` };
}

function json(container: string, entry: object): string {
  return JSON.stringify({ [container]: { notebridge: entry } }, undefined, 2);
}
