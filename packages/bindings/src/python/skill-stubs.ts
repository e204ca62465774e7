import type { BoundServer } from '../model.js';
import type { StubAddress, ToolStub } from '../stub-model.js';
import { docText } from './literals.js';

/** What the skills' tools are called in a package. */
const skillFunctions: ReadonlyMap<string, string> = new Map([
  ['list_skills', 'list_skills'],
  ['load_skill', 'load_skill'],
  ['read_skill_resource', 'read_skill_resource'],
  ['run_skill_script', 'run_skill'],
  ['save_skill', 'save_skill'],
  ['delete_skill', 'delete_skill'],
]);

/** Their signatures, as `runtime/` has them: functions of the skills are not made from schemas. */
const signatures: Readonly<Record<string, string>> = {
  list_skills: 'async def list_skills() -> List[Dict[str, Any]]:',
  load_skill: 'async def load_skill(skill_name: str) -> str:',
  read_skill_resource: 'async def read_skill_resource(skill_name: str, resource_name: str) -> Any:',
  run_skill:
    'async def run_skill(skill_name: str, script_name: str = ..., args: Sequence[str] = ..., kwargs: Mapping[str, Any] = ...) -> Dict[str, Any]:',
  save_skill:
    'async def save_skill(name: str, description: str, code: str, *, tags: Sequence[str] = ..., parameters: Mapping[str, Any] = ..., tests: str = ..., overwrite: bool = False) -> Dict[str, Any]:',
  delete_skill: 'async def delete_skill(skill_name: str) -> Dict[str, Any]:',
};

/** The stub of a function of the skills; undefined for a tool that a package has no function for. */
export function skillStub({ name: wire, description }: BoundServer['tools'][number]): ToolStub | undefined {
  const name = skillFunctions.get(wire);
  const signature = name && signatures[name];
  if (signature === undefined) return undefined;
  const text = `${signature}\n    """${docText(description ?? '', 2000)}"""`;
  return { importLine: `from generated.skills import ${name}`, text };
}

/** The names of the skills' functions, like those of tools. */
export function skillNames(skills: BoundServer | undefined): [name: string, address: StubAddress][] {
  if (skills === undefined) return [];
  const named = skills.tools.map(({ name }) => ({ tool: name, name: skillFunctions.get(name) }));
  return named.flatMap(({ tool, name }) => (name === undefined ? [] : [[`skills.${name}`, { server: skills.name, tool }]]));
}
