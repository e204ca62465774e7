import { callTool, callToolRaw } from './_client.js';

const server = 'skills';

/** @type {typeof import('./skills.js').list_skills} */
export async function list_skills(options) {
  const { meta, value } = await callToolRaw(server, 'list_skills', {}, options);
  // The value is the text for agents.
  const listed = meta['notebridge/skills'];
  return Array.isArray(listed) ? listed : [{ name: '', description: String(value) }];
}

/** @type {typeof import('./skills.js').load_skill} */
export function load_skill(skill_name, options) {
  return callTool(server, 'load_skill', { skill_name }, options);
}

/** @type {typeof import('./skills.js').read_skill_resource} */
export function read_skill_resource(skill_name, resource_name, options) {
  return callTool(server, 'read_skill_resource', { skill_name, resource_name }, options);
}

/** @type {typeof import('./skills.js').run_skill} */
export function run_skill(skill_name, script_name, args = [], options = {}) {
  return callTool(server, 'run_skill_script', { skill_name, script_name, args }, options);
}
