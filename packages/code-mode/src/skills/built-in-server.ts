import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { runTool } from '@notebridge/protocol/core/memory-provider';
import { MemoryToolServer } from '@notebridge/protocol/core/memory-tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { savingTools, skillsDescription, skillsServerName, skillTools } from './skill-tools.js';

/** Runs one call of a tool of the skills. Rejects with `unknown_tool` for a name that it does not know. */
export type SkillToolRunner = (tool: string, args: JsonObject, context: CallContext) => Promise<ToolResult>;

/** The server `skills`, whatever implements it: always there, and its list of tools never changes. */
export class BuiltInServer extends MemoryToolServer {
  readonly #run: SkillToolRunner;

  /** `isCodeMode`: code saves skills too, and agents reach all of them by code alone. */
  constructor(run: SkillToolRunner, isCodeMode = false) {
    const tools = (isCodeMode ? [...skillTools, ...savingTools] : skillTools).map((tool) => ({
      ...tool,
      run: (args: JsonObject, context: CallContext) => run(tool.name, args, context),
    }));
    super({ name: skillsServerName, description: skillsDescription, tools, expose: isCodeMode ? 'code' : 'direct' });
    this.#run = run;
  }

  /** Calls of other tools reach the implementation too: the error that they get is its own. */
  override async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const name = String(params.name);
    if (method !== 'tools/call' || this.knownTools.some((tool) => tool.name === name)) return super.request(method, params, context);
    return runTool({ name, inputSchema: {}, run: (args) => this.#run(name, args, context) }, params, context);
  }
}
