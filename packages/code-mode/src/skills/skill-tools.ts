import { type Tool, type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';

/** The name of the server that the skills are, for code in kernels and in the names of tools. */
export const skillsServerName = 'skills';

export const skillsDescription = 'Instructions, resources and scripts for particular tasks (Agent Skills).';

export type SkillToolName = 'list_skills' | 'load_skill' | 'read_skill_resource' | 'run_skill_script' | SavingToolName;

type SavingToolName = 'save_skill' | 'delete_skill';

/**
 * A text that stays a text on its way through the tool proxy, which would parse one that looks like JSON: the proxy unwraps a
 * lone `result` of the structured content.
 */
export function toStringResult(text: string): ToolResult {
  return { ...toTextResult(text), structuredContent: { result: text } };
}

/** An object, for agents and for code. */
export function toObjectResult(structuredContent: JsonObject): ToolResult {
  return { ...toTextResult(JSON.stringify(structuredContent)), structuredContent };
}

const text = { type: 'string' };
const skillName = { ...text, description: 'Name of the skill, as `list_skills` gives it.' };
const orNull = (type: string): JsonObject => ({ type: [type, 'null'] });

/** The schema of an object, of which all is required unless it is said what. */
function toSchema(properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required };
}

const looks = { readOnlyHint: true, openWorldHint: false };

/** The tools that clients of the reference know, and their results. */
export const skillTools: readonly (Tool & { name: SkillToolName })[] = [
  {
    name: 'list_skills',
    title: 'List skills',
    description: 'Lists the skills: what each is for, and its scripts. Look here before a task that is not everyday.',
    inputSchema: { type: 'object', properties: {} },
    outputSchema: toSchema({ result: text }),
    annotations: looks,
  },
  {
    name: 'load_skill',
    title: 'Load a skill',
    description: 'Gives the instructions of a skill, with the names of its resources and scripts. Call this before you use the skill.',
    inputSchema: toSchema({ skill_name: skillName }),
    outputSchema: toSchema({ result: text }),
    annotations: looks,
  },
  {
    name: 'read_skill_resource',
    title: 'Read a resource of a skill',
    description: 'Reads a file that belongs to a skill.',
    inputSchema: toSchema({
      skill_name: skillName,
      resource_name: { ...text, description: 'As `load_skill` gives it, such as `references/forms.md`.' },
    }),
    annotations: looks,
  },
  {
    name: 'run_skill_script',
    title: 'Run a script of a skill',
    description: 'Runs a script that belongs to a skill, in the folder of the skill, and waits for its end.',
    inputSchema: toSchema(
      {
        skill_name: skillName,
        script_name: { ...text, description: 'As `load_skill` gives it. Left out: the only one.' },
        args: { type: 'array', items: text, default: [], description: 'What stands behind the script on its command line.' },
        kwargs: { type: 'object', default: {}, description: 'Named options: `{"size": 3}` becomes `--size 3`, and true a switch.' },
      },
      ['skill_name'],
    ),
    outputSchema: toSchema(
      {
        success: { type: 'boolean', description: 'It ran and ended with exit code 0.' },
        output: { ...text, description: 'What it wrote; of a script that failed, its error output if there is one.' },
        stdout: text,
        stderr: text,
        execution_ok: { type: 'boolean', description: 'False if it could not be started, or took too long.' },
        execution_error: orNull('string'),
        code_error: orNull('object'),
        exit_code: orNull('integer'),
        error: orNull('string'),
        dropped_bytes: { type: 'integer', description: 'How much of its output was beyond the limit; left out if nothing was.' },
      },
      ['success', 'output', 'stdout', 'stderr', 'execution_ok', 'execution_error', 'code_error', 'exit_code', 'error'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];

type SavingTool = Tool & { name: SavingToolName };

/** Code mode has these as well. */
export const savingTools: readonly [save: SavingTool, remove: SavingTool] = [
  {
    name: 'save_skill',
    title: 'Save a skill',
    description:
      'Keeps Python code that worked under a name, for you alone, after its tests ran. The arguments of a run are variables of the code; the value of its last expression is the result. ' +
      'The tests are Python too: they call `await skill(**arguments)`, which gives that value, and fail by an error.',
    inputSchema: toSchema(
      {
        name: { ...text, description: 'Letters, digits, "-" and "_", at most 64.' },
        description: { ...text, description: 'What it does, in a sentence: searches find it by this.' },
        code: text,
        tags: { type: 'array', items: text },
        parameters: { type: 'object', description: 'What the arguments mean, as a JSON Schema or in your own words.' },
        tests: { ...text, description: 'Left out: the code is compiled, and not run.' },
        overwrite: { type: 'boolean', default: false, description: 'Replaces one of yours that has this name.' },
      },
      ['name', 'description', 'code'],
    ),
    outputSchema: toSchema({ name: text, tested: { type: 'boolean' } }),
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  },
  {
    name: 'delete_skill',
    title: 'Delete a skill',
    description: 'Deletes a skill that you have saved.',
    inputSchema: toSchema({ skill_name: skillName }),
    outputSchema: toSchema({ name: text, deleted: { type: 'boolean' } }),
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  },
];
