import type { BindingLanguage } from './languages.js';
import type { BoundServer } from './model.js';
import type { StubAddress, ToolStub } from './stub-model.js';

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
const signatures: Record<BindingLanguage, Record<string, string>> = {
  python: {
    list_skills: 'async def list_skills() -> List[Dict[str, Any]]:',
    load_skill: 'async def load_skill(skill_name: str) -> str:',
    read_skill_resource: 'async def read_skill_resource(skill_name: str, resource_name: str) -> Any:',
    run_skill:
      'async def run_skill(skill_name: str, script_name: str = ..., args: Sequence[str] = ..., kwargs: Mapping[str, Any] = ...) -> Dict[str, Any]:',
    save_skill:
      'async def save_skill(name: str, description: str, code: str, *, tags: Sequence[str] = ..., parameters: Mapping[str, Any] = ..., tests: str = ..., overwrite: bool = False) -> Dict[str, Any]:',
    delete_skill: 'async def delete_skill(skill_name: str) -> Dict[str, Any]:',
  },
  typescript: {
    list_skills: 'export function list_skills(options?: CallOptions): Promise<Skill[]>;',
    load_skill: 'export function load_skill(skill_name: string, options?: CallOptions): Promise<string>;',
    read_skill_resource:
      'export function read_skill_resource<Value = unknown>(skill_name: string, resource_name: string, options?: CallOptions): Promise<Value>;',
    run_skill:
      'export function run_skill(skill_name: string, script_name: string, args?: readonly string[], options?: CallOptions): Promise<SkillRun>;',
  },
};

/** The stub of a function of the skills; undefined for a tool that a package has no function for. */
export function skillStub(
  language: BindingLanguage,
  tool: BoundServer['tools'][number],
  doc: (text: string) => string,
): ToolStub | undefined {
  const name = skillFunctions.get(tool.name);
  const signature = name && signatures[language][name];
  if (signature === undefined) return undefined;
  const text = doc(tool.description ?? '');
  return language === 'python'
    ? { importLine: `from generated.skills import ${name}`, text: `${signature}\n    """${text}"""` }
    : { importLine: `import { ${name} } from './generated/skills.js';`, text: `${text}${signature}` };
}

/** The names of the skills' functions, like those of tools. */
export function skillNames(skills: BoundServer | undefined): [name: string, address: StubAddress][] {
  if (skills === undefined) return [];
  const named = skills.tools.map(({ name }) => ({ tool: name, name: skillFunctions.get(name) }));
  return named.flatMap(({ tool, name }) => (name === undefined ? [] : [[`skills.${name}`, { server: skills.name, tool }]]));
}
