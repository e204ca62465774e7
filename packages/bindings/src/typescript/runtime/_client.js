import { converse } from './_conversation.js';
import { ToolError } from './_errors.js';
import { configure } from './_settings.js';

export { configure, ToolError };

/** @type {typeof import('./client.js').callTool} */
export async function callTool(server, tool, arguments_ = {}, options = {}) {
  const { value } = await callToolRaw(server, tool, arguments_, options);
  return /** @type {any} */ (value);
}

/** @type {typeof import('./client.js').callToolRaw} */
export function callToolRaw(server, tool, arguments_ = {}, options = {}) {
  return /** @type {Promise<any>} */ (converse({ server, tool }, arguments_, options));
}

/** @type {typeof import('./client.js').defineTool} */
export function defineTool(server, tool) {
  /** @type {any} */
  const call = (/** @type {any} */ arguments_, /** @type {any} */ options) => callTool(server, tool, arguments_, options);
  call.raw = (/** @type {any} */ arguments_, /** @type {any} */ options) => callToolRaw(server, tool, arguments_, options);
  call.server = server;
  call.tool = tool;
  return call;
}
