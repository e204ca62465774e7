import type { BindingsInput } from '../model.js';
import { emitPython } from './emit-python.js';
import { nameForPython } from './python-names.js';
import { toolModule } from './tool-module.js';

/** A tool, as code calls it. */
export interface CheckedTool {
  /** Server and tool, as Python has them. */
  server: string;
  name: string;
  /** `(*, owner: str, repo: str) -> Any`, for people. */
  signature: string;
  /** Names of its arguments on the wire, under which they may be given as well. */
  wireNames: ReadonlySet<string>;
}

/** The package as a type checker reads it: the same functions and types, called by name alone; a dict of arguments is another form. */
export interface CheckedPackage {
  files: ReadonlyMap<string, string>;
  /** By the documentation of its function, which is an address here: so what a checker says of a call tells which tool is called. */
  tools: ReadonlyMap<string, CheckedTool>;
}

/** The three forms of a call, as checkers see them in the package itself. */
const callForms = /^ {4}if TYPE_CHECKING:\n\n {8}@overload\n[^]*?# `self` may be a parameter of the tool\n/m;
/** By name alone: of functions with several forms checkers do not say which argument is wrong. */
const callByName = '    if TYPE_CHECKING:\n\n        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T: ...\n';

/** Makes the package for a type checker. The same input gives the same. */
export async function emitChecked(input: BindingsInput): Promise<CheckedPackage> {
  const { files } = await emitPython(input);
  const all = new Map(files);
  all.set('_function.py', (files.get('_function.py') ?? '').replace(callForms, callByName));
  const tools = new Map<string, CheckedTool>();
  for (const server of nameForPython(input.servers)) {
    for (const { tool, name } of server.tools) {
      const { textWith, signature, parameters } = toolModule(server.wire, tool, name);
      const address = `tool ${tools.size} of the hub`;
      all.set(`mcp/${server.name}/${name}.py`, textWith(address));
      const wireNames = new Set(parameters.list.map(({ wire }) => wire));
      tools.set(address, { server: server.name, name, signature, wireNames });
    }
  }
  return { files: all, tools };
}
