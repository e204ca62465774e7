import type { BoundServer, StubAddress, ToolStub } from '../model.js';
import { docText } from './literals.js';

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

/** The name of a tool of the skills in a package; undefined if that has no function for it. */
function nameOf(wire: string): string | undefined {
  const name = wire === 'run_skill_script' ? 'run_skill' : wire;
  return wire !== 'run_skill' && Object.hasOwn(signatures, name) ? name : undefined;
}

/** The stub of a function of the skills; undefined for a tool that a package has no function for. */
export function skillStub({ name: wire, description }: BoundServer['tools'][number]): ToolStub | undefined {
  const name = nameOf(wire);
  if (name === undefined) return undefined;
  const text = `${signatures[name]}\n    """${docText(description ?? '', 2000)}"""`;
  return { importLine: `from generated.skills import ${name}`, text };
}

/** The names of the skills' functions, like those of tools. */
export function skillNames(skills: BoundServer | undefined): [name: string, address: StubAddress][] {
  if (skills === undefined) return [];
  const named = skills.tools.map(({ name }) => ({ tool: name, name: nameOf(name) }));
  return named.flatMap(({ tool, name }) => (name === undefined ? [] : [[`skills.${name}`, { server: skills.name, tool }]]));
}
