// Two scripted agents: one calls the tools of a task directly, the other by code. What they read and write is recorded, turn by turn.

/** @typedef {import('./tasks.mjs').Task} Task */
/** @typedef {(name: string, args: Record<string, unknown>) => Promise<Record<string, any>>} CallTool Answers the result as MCP has it. */
/** @typedef {{ name: string, args: Record<string, unknown>, result: Record<string, any> }[]} Turn Calls that are made at once. */
/** @typedef {{ answer: unknown, turns: Turn[], session?: unknown }} Played `session`: the handle of the variables, where there is one. */

/**
 * @param {Task} task
 * @param {{ callTool: CallTool, folder: string }} options
 * @returns {Promise<Played>}
 */
export async function playDirect(task, { callTool, folder }) {
  const recorder = new Recorder(callTool);
  const answer = await task.direct(async (calls) => {
    const results = await recorder.turn(calls.map(([name, args]) => [name.replace('.', '__'), args]));
    return results.map((result) => ({ text: textOf(result), value: result.structuredContent, content: result.content }));
  }, folder);
  return { answer, turns: recorder.turns };
}

/**
 * Searches, reads the signatures, runs the code. Throws if a tool that the task needs is not found.
 * @param {Task} task
 * @param {{ callTool: CallTool, folder: string, where?: Record<string, unknown> }} options `where`: more arguments of `execute_code`.
 * @returns {Promise<Played>}
 */
export async function playInCodeMode(task, { callTool, folder, where = {} }) {
  const recorder = new Recorder(callTool);
  const searches = await recorder.turn(task.queries.map((query) => ['search_tools', { query }]));
  const found = searches.flatMap(({ structuredContent }) => structuredContent.results).map(({ server, tool }) => `${server}.${tool}`);
  const missing = task.uses.filter((tool) => !found.includes(tool));
  if (missing.length > 0) throw new Error(`"${task.queries.join('", "')}" did not find ${missing.join(', ')}.`);
  await recorder.turn([['describe_tools', { tools: task.uses }]]);
  const [ran = {}] = await recorder.turn([['execute_code', { code: task.code(folder), ...where }]]);
  return { answer: JSON.parse(printedIn(ran)), turns: recorder.turns, session: ran.structuredContent?.session };
}

class Recorder {
  /** @type {Turn[]} */
  turns = [];
  #callTool;

  /** @param {CallTool} callTool */
  constructor(callTool) {
    this.#callTool = callTool;
  }

  /** @param {[name: string, args: Record<string, unknown>][]} calls */
  async turn(calls) {
    const turn = await Promise.all(calls.map(async ([name, args]) => ({ name, args, result: await this.#callTool(name, args) })));
    this.turns.push(turn);
    const failed = turn.find(({ result }) => result.isError === true);
    if (failed !== undefined) throw new Error(`${failed.name} failed: ${textOf(failed.result)}`);
    return turn.map(({ result }) => result);
  }
}

/** @param {Record<string, any>} result */
export function textOf({ content = [] }) {
  return content.flatMap((/** @type {any} */ block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/**
 * What code has printed: text of the answer, or an output of the notebook's cell.
 * @param {Record<string, any>} result
 */
function printedIn({ content }) {
  const [{ text }] = content;
  const cell = text.startsWith('{"') ? JSON.parse(text) : {};
  if (!Array.isArray(cell.outputs)) return text;
  return cell.outputs.flatMap((/** @type {any} */ output) => (output.name === 'stdout' ? [output.text].flat() : [])).join('');
}
