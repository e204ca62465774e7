// @ts-self-types="./skills.d.ts"
export { list_skills, load_skill, read_skill_resource, run_skill } from './_skills.js';
