import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { BoundTool } from '../model.js';
import { docText, pythonLiteral } from './literals.js';
import type { Parameter } from './parameters.js';

export interface Documented {
  server: string;
  tool: BoundTool;
  python: string;
  parameters: readonly Parameter[];
  others: string | undefined;
  returns: string;
  /** Without what the signature says already, and what is true of every function. Default: all of it. */
  isBrief?: boolean;
}

/** The documentation of a function, ready to stand between `"""`, its lines indented. */
export function toolDocstring({ server, tool, python, parameters, others, returns, isBrief = false }: Documented): string {
  if (isBrief) return briefDocstring(tool, parameters);
  const blocks = [
    descriptionOf(tool) || `The tool ${tool.name} of the MCP server ${server}.`,
    hintsOf(tool),
    section('Args', [...parameters.flatMap(aboutParameter), ...(others === undefined ? [] : [`**more (${others}): Further arguments.`])]),
    section('Returns', returnsOf(tool, returns)),
    section('Raises', ['ToolError: The tool failed, or could not be called.']),
    tool.name === python ? '' : `On the wire: the tool ${quoted(tool.name)} of the MCP server ${quoted(server)}.`,
  ];
  const text = blocks.filter((block) => block !== '').join('\n\n');
  return indented(docText(text, maxLength), '    ');
}

function briefDocstring(tool: BoundTool, parameters: readonly Parameter[]): string {
  const args = parameters.flatMap((parameter) => {
    const text = factsOf(parameter);
    return text === '' ? [] : [`${parameter.python}: ${indented(text, '    ')}`];
  });
  const blocks = [descriptionOf(tool), hintsOf(tool), section('Args', args)];
  return indented(docText(blocks.filter((block) => block !== '').join('\n\n'), maxLength), '    ');
}

/** The server's description of a tool, after its title if it has one. */
export function descriptionOf(tool: BoundTool): string {
  const title = titleOf(tool);
  const description = cleaned(typeof tool.description === 'string' ? tool.description : '', maxDescription);
  if (title === '' || title.toLowerCase().replaceAll(/[^a-z0-9]/g, '') === tool.name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    return description;
  if (description.startsWith(title)) return description;
  return description === '' ? title : `${title}.\n\n${description}`.replace('..', '.');
}

function titleOf(tool: BoundTool): string {
  const title = tool.title ?? tool.annotations?.title;
  return typeof title === 'string' ? cleaned(title, 200).replaceAll('\n', ' ') : '';
}

/** The first line of the description, for lists. */
export function summaryOf(text: string, maxSummary = 100): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  const sentence = /^.*?[.!?](?=\s|$)/.exec(line)?.[0] ?? line;
  return sentence.length > maxSummary ? `${sentence.slice(0, maxSummary - 1).trimEnd()}…` : sentence;
}

/** Each line that has something, but the first, behind the margin. */
function indented(text: string, margin: string): string {
  return text.replaceAll(/\n(?=[^\n])/g, `\n${margin}`);
}

const maxDescription = 20_000;
const maxNote = 2_000;
const maxLength = 200_000;

function hintsOf({ annotations }: BoundTool): string {
  if (!isJsonObject(annotations)) return '';
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const hints = [
    readOnlyHint === true && 'read-only (it changes nothing)',
    readOnlyHint !== true && destructiveHint === true && 'destructive (it may overwrite or delete)',
    readOnlyHint !== true && destructiveHint === false && 'not destructive (it only adds)',
    readOnlyHint !== true && idempotentHint === true && 'idempotent (a second call with the same arguments changes nothing more)',
    openWorldHint === true && 'open world (it reaches systems outside)',
    openWorldHint === false && 'closed world (it reaches nothing outside)',
  ].filter((hint) => hint !== false);
  return hints.length > 0 ? `The server says that it is: ${hints.join('; ')}.` : '';
}

function aboutParameter(parameter: Parameter): string[] {
  const { python, type, isRequired } = parameter;
  const shownType = type.length > 200 ? `${type.slice(0, 200)}…` : type;
  const head = `${python} (${shownType}${isRequired ? '' : ', optional'}):`;
  const text = factsOf(parameter);
  return [`${head}${text === '' ? '' : ` ${indented(text, '    ')}`}`];
}

/** The server's description of a parameter, with what else its schema says besides the type. */
function factsOf({ wire, python, isRequired, schema }: Parameter): string {
  const description = typeof schema.description === 'string' ? cleaned(schema.description, maxNote) : '';
  const facts = [
    !isRequired && 'default' in schema && `Default: ${shown(schema.default)}.`,
    ...limitsOf(schema),
    Array.isArray(schema.examples) && schema.examples.length > 0 && `Examples: ${schema.examples.slice(0, 5).map(shown).join(', ')}.`,
    schema.deprecated === true && 'Deprecated.',
    wire !== python && `On the wire: ${quoted(wire)}.`,
  ].filter((fact) => typeof fact === 'string');
  const ended = facts.length === 0 || /(^|[.!?:;])$/.test(description) ? description : `${description}.`;
  return [ended, facts.join(' ')].filter((part) => part !== '').join(description.includes('\n') ? '\n' : ' ');
}

function limitsOf(schema: JsonObject): string[] {
  const words: [key: string, word: string][] = [
    ['minimum', 'at least'],
    ['exclusiveMinimum', 'more than'],
    ['maximum', 'at most'],
    ['exclusiveMaximum', 'less than'],
    ['minLength', 'characters: at least'],
    ['maxLength', 'characters: at most'],
    ['minItems', 'items: at least'],
    ['maxItems', 'items: at most'],
    ['pattern', 'pattern'],
    ['format', 'format'],
  ];
  const limits = words.filter(([key]) => ['number', 'string', 'object'].includes(typeof schema[key]) && schema[key] !== null);
  const said = limits.map(
    ([key, word]) => `${word} ${key === 'pattern' || key === 'format' ? cleaned(String(schema[key]), 200) : shown(schema[key])}`,
  );
  const list = said.join(', ');
  return list === '' ? [] : [`${list.charAt(0).toUpperCase()}${list.slice(1)}.`];
}

function returnsOf(tool: BoundTool, returns: string): string[] {
  const { outputSchema } = tool;
  const about =
    isJsonObject(outputSchema) && typeof outputSchema.description === 'string' ? cleaned(outputSchema.description, maxNote) : '';
  const text = outputSchema === undefined ? 'what the tool answers. The server does not say of what type.' : about;
  return [`${returns}${text === '' ? '' : `: ${indented(text, '    ')}`}`];
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n    ${lines.map((line) => indented(line, '    ')).join('\n    ')}`;
}

function cleaned(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)` : text;
  const lines = cut.replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n').split('\n');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}

function shown(value: unknown): string {
  return pythonLiteral(value) ?? '(too long to show)';
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
