// Ten tasks for agents, written down as data: what is asked, the tool calls of an agent that calls them directly, and the Python of one that
// uses code mode. Both are scripted; no model is called. The test of the program runs them at its doors and in its kernels and compares the
// answers; the bench counts what the two ways cost a model.
import { fileTasks } from './tasks/file-tasks.mjs';
import { graphTasks } from './tasks/graph-tasks.mjs';
import { otherTasks } from './tasks/other-tasks.mjs';

/**
 * Calls tools at once, as an agent does in one turn: pairs of a name (`server.tool`) and arguments. Answers what each has in `content` as
 * text, and its structured content.
 * @typedef {(calls: [name: string, args: Record<string, unknown>][]) => Promise<{ text: string, value: any, content: any[] }[]>} CallAll
 */

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {string} asks What a person would say.
 * @property {string[]} queries What an agent that does not know the tools searches for.
 * @property {string[]} uses Tools that it then reads, as `server.tool`.
 * @property {(callAll: CallAll, folder: string) => Promise<unknown>} direct Its calls without code mode, and the answer, a JSON value.
 * @property {(folder: string) => string} code The same in Python, which prints the answer as JSON.
 */

/** @type {readonly Task[]} */
export const tasks = [...fileTasks, ...graphTasks, ...otherTasks];
