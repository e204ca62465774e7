import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../core/call-context.js';
import type { Tool, ToolResult } from '../core/mcp.js';
import { MemoryProvider, runTool } from '../core/memory-provider.js';
import type { ServerState, ToolServer } from '../core/tool-server.js';
import { skillsDescription, skillsServerName, skillTools } from './skill-tools.js';

/** Runs one call of a tool of the skills. Rejects with `unknown_tool` for a name that it does not know. */
export type SkillToolRunner = (tool: string, args: JsonObject, context: CallContext) => Promise<ToolResult>;

/** The server `skills`, whoever stands behind it: always there, and its list of tools never changes. */
export class BuiltInServer extends MemoryProvider implements ToolServer {
  override readonly name = skillsServerName;
  readonly description = skillsDescription;
  readonly isConfig = false;
  readonly expose = 'direct';
  readonly knownTools: readonly Tool[] = skillTools;
  readonly #run: SkillToolRunner;
  readonly #since = Date.now();
  #inFlight = 0;

  constructor(run: SkillToolRunner) {
    super({
      name: skillsServerName,
      tools: skillTools.map((tool) => ({ ...tool, run: (args, context) => run(tool.name, args, context) })),
    });
    this.#run = run;
  }

  get status(): ServerState['status'] {
    return 'running';
  }

  get state(): ServerState {
    return { status: 'running', since: this.#since, restarts: 0, inFlight: this.#inFlight };
  }

  async listTools(): Promise<readonly Tool[]> {
    return skillTools;
  }

  override async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method !== 'tools/call') return super.request(method, params, context);
    const name = String(params.name);
    this.#inFlight++;
    try {
      return await runTool({ name, inputSchema: {}, run: (args) => this.#run(name, args, context) }, params, context);
    } finally {
      this.#inFlight--;
    }
  }
}
