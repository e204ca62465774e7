import { isJsonObject } from '@notebridge/protocol/json';
import type { BoundTool } from '../model.js';
import { summaryOf, toolDocstring } from './docstrings.js';
import { docText, pythonString } from './literals.js';
import { ModuleNames } from './module-names.js';
import { type Parameters, toParameters } from './parameters.js';
import { PythonTypes } from './python-types.js';
import { propertiesOf, requiredOf } from './schemas.js';

export interface ToolModule {
  text: string;
  /** The same with another documentation of the function, of letters, digits and spaces. */
  textWith(doc: string): string;
  /** `(*, owner: str, repo: str) -> Any`, for people. */
  signature: string;
  parameters: Parameters;
  /** The types that the signature names, as source text. */
  definitions: string[];
  returns: string;
  /** What arguments that the schema does not name are called: `**more: Any`. */
  rest: string[];
}

/** The module of one tool: its types, and a function with its real parameters. */
export function toolModule(server: string, tool: BoundTool, python: string): ToolModule {
  const names = new ModuleNames(python);
  const argumentTypes = new PythonTypes(tool.inputSchema, names, 'argument');
  const parameters = toParameters(tool.inputSchema, argumentTypes, names);
  const resultTypes = new PythonTypes(tool.outputSchema, names, 'result');
  const returns = resultTypeOf(tool, resultTypes, names);
  const { list, others } = parameters;

  const options = optionsBeside(list.map(({ wire }) => wire));
  const lines = list.map(({ python: name, type, written }) => `${name}: ${type}${written === undefined ? '' : ` = ${written}`}`);
  const named = new Set([...list.map((each) => each.python), 'timeout', 'on_progress']);
  const rest = others === undefined ? [] : [`**${freeName('more', named)}: ${others}`];
  const shown = [...lines.map((line) => line.replace(/ = (UNSET|default\(.*\))$/, ' = ...')), ...rest].join(', ');
  const written = [...lines, ...options.map((option) => `${option}: ${typeOfOption(option, names)} = None`), ...rest].map(
    (line) => `    ${line},\n`,
  );

  const decorated = [pythonString(server), pythonString(tool.name), ...wireNames(list)].join(', ');
  const doc = toolDocstring({ server, tool, python, parameters: list, others, returns });
  const head = docText(`The tool ${tool.name} of the MCP server ${server}.`.replaceAll(/\s+/g, ' '), 2000);
  const definitions = [...argumentTypes.definitions(), ...resultTypes.definitions()];
  const textWith = (text: string): string => {
    const body = [
      `@${names.use('tool_function')}(${decorated})`,
      `async def ${python}(\n    *,\n${written.join('')}) -> ${returns}:`,
      `    """${text}\n    """`,
      `    raise ${names.use('NotImplementedError')}`,
    ].join('\n');
    return `${[`"""${head}"""\n\n${future(python)}\n\n${names.imports()}`, ...definitions, body].join('\n\n\n')}\n`;
  };
  const signature = `(${shown === '' ? '' : `*, ${shown}`}) -> ${returns}`;
  return { text: textWith(doc), textWith, signature, parameters, definitions, returns, rest };
}

/** One line on a tool, for lists. */
export function toolSummary(tool: BoundTool): string {
  return summaryOf(typeof tool.description === 'string' ? tool.description : '');
}

/** The hub gives the structured content, and of a lone `{"result": X}` X itself. */
function resultTypeOf({ outputSchema }: BoundTool, types: PythonTypes, names: ModuleNames): string {
  if (!isJsonObject(outputSchema)) return names.use('Any');
  const root = types.schemas.joined(outputSchema);
  const [first, ...more] = propertiesOf(root);
  if (first?.[0] !== 'result')
    return propertiesOf(root).some(([name]) => name === 'result') ? mixed(root, types, names) : types.typeOf(outputSchema, 'Result');
  if (more.length > 0) return mixed(root, types, names);
  return types.typeOf(first[1], 'Result');
}

/** With members beside `result` that may be left out, what arrives may be unwrapped or not. */
function mixed(root: Record<string, unknown>, types: PythonTypes, names: ModuleNames): string {
  const others = [...requiredOf(root)].filter((name) => name !== 'result');
  return others.length > 0 ? types.typeOf(root, 'Result') : names.use('Any');
}

/** Without it, Python 3.9 would evaluate the types of the signature. */
function future(python: string): string {
  return `from __future__ import annotations${python === 'annotations' ? ' as annotations_' : ''}`;
}

type Option = 'on_progress' | 'timeout';

/** The keywords of ours that the tool leaves free. */
function optionsBeside(wires: readonly string[]): Option[] {
  return (['on_progress', 'timeout'] as const).filter((option) => !wires.includes(option));
}

function typeOfOption(option: Option, names: ModuleNames): string {
  return option === 'on_progress' ? names.use('OnProgress') : `${names.use('Optional')}[${names.use('float')}]`;
}

/** Those that differ, and those that take the place of a keyword of ours. */
function wireNames(list: Parameters['list']): string[] {
  const told = list.filter(({ wire, python }) => wire !== python || wire === 'on_progress' || wire === 'timeout');
  return told.length === 0 ? [] : [`{${told.map(({ python, wire }) => `${pythonString(python)}: ${pythonString(wire)}`).join(', ')}}`];
}

function freeName(wish: string, taken: ReadonlySet<string>): string {
  return taken.has(wish) ? freeName(`${wish}_`, taken) : wish;
}
