import { BridgeError } from '@notebridge/protocol/core/errors';
import { printMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { quote } from '@notebridge/protocol/util/quote';
import type { PolicyReport } from '../../catalog/policy-report.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { withSource } from '../client/open-source.js';
import { defineCommand, type OptionsOf } from '../define-command.js';
import { asTyped } from '../own-command.js';
import { paint, printJsonLine, printPretty, printTable } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';
import { noServersText, sourceOptions } from './servers.js';

/** `notebridge tools`: what can be called, and what agents call it. */
export const toolsCommand = defineCommand({ arguments: [['[server]'], ['[tool]']], options: sourceOptions, run: listTools });

/** Prints the tools of all servers, of one, or one tool with its input. Rejects with `unknown_server`, `unknown_tool`. */
async function listTools(
  server: string | undefined,
  tool: string | undefined,
  { json, ...options }: OptionsOf<typeof sourceOptions>,
): Promise<void> {
  const { hub, servers, policy } = await withSource(options, async (source) => ({
    hub: source.hub,
    servers: server === undefined ? await source.servers() : [await source.server(server)],
    policy: await source.policy(),
  }));
  const { stdout } = process;
  const [first] = servers;
  if (tool !== undefined && first !== undefined) {
    const found = findTool(first, tool);
    if (json) return printJsonLine(found);
    return void stdout.write(toToolText(first.name, found, policy));
  }
  if (json) return printJsonLine({ tools: servers.flatMap(({ name, tools }) => (tools ?? []).map((each) => ({ server: name, ...each }))) });
  if (servers.length === 0) return void stdout.write(`${noServersText({ hub, ...options })}\n`);
  for (const [at, each] of servers.entries()) {
    if (at > 0) stdout.write('\n');
    printToolsOf(each);
  }
  const notes = [codeModeText(policy), needApproval(servers) ? approvalText(policy) : ''].filter((text) => text !== '');
  for (const text of notes) stdout.write(`\n${asTyped(text)}\n`);
}

function needApproval(servers: readonly OwnerBody<'Server'>[]): boolean {
  return servers.some(({ tools }) => tools?.some((tool) => tool.needs_approval) === true);
}

function findTool({ name, tools }: OwnerBody<'Server'>, wanted: string): OwnerBody<'Tool'> {
  const found = tools?.find((tool) => tool.name === wanted || tool.agent_name === wanted);
  if (found !== undefined) return found;
  const names = (tools ?? []).map((tool) => tool.name);
  const meant = didYouMean(wanted, names);
  const hint = meant === undefined ? `It has: ${names.join(', ') || 'none'}.` : `Did you mean "${meant}"?`;
  throw new BridgeError('unknown_tool', `"${name}" has no tool ${quote(wanted)}. ${hint}`);
}

/** Agents' names stand only where they are not `server__tool`. */
function printToolsOf({ name, tools, status, expose, names }: OwnerBody<'Server'>): void {
  const count = tools === null ? `not known yet (${status}); ${asTyped(`see: notebridge tools ${name}`)}` : `${tools.length} tools`;
  const prefix = names === 'plain' ? '' : `${name}__`;
  const seen = expose === 'direct' ? `; agents call them ${prefix}TOOL` : '; not shown to agents';
  process.stdout.write(`${paint.bold(withoutControls(name))}  ${paint.dim(`${count}${tools === null ? '' : seen}`)}\n`);
  printTable(
    [],
    (tools ?? []).map((tool) => toRow(prefix, tool, expose === 'direct')),
  );
}

function toRow(
  prefix: string,
  { name, agent_name: agentName, description, needs_approval: needsApproval }: OwnerBody<'Tool'>,
  isShown: boolean,
): string[] {
  const other = isShown && agentName !== `${prefix}${name}` ? `(agents: ${agentName ?? 'no name'}) ` : '';
  return [`  ${name}`, `${needsApproval ? '(asks) ' : ''}${other}${firstLine(description)}`].map(withoutControls);
}

function firstLine(text: string | null): string {
  return text?.trim().split('\n')[0] ?? '';
}

/** Descriptions are the server's words: none of their control characters reaches the terminal. */
function toToolText(
  server: string,
  { name, agent_name: agentName, description, input_schema: schema, output_schema: output, annotations, ...more }: OwnerBody<'Tool'>,
  policy: PolicyReport,
): string {
  const hints = isJsonObject(annotations)
    ? Object.entries(annotations)
        .filter(([, value]) => value === true)
        .map(([key]) => key.replace(/Hint$/, ''))
    : [];
  const parts = [
    `${paint.bold(withoutControls(`${server} ${name}`))}${agentName === null ? '' : paint.dim(`   for agents: ${agentName}`)}`,
    ...(hints.length === 0 ? [] : [paint.dim(`Says of itself: ${withoutControls(hints.join(', '))}`)]),
    ...(more.needs_approval ? [asTyped(approvalText(policy, 'Its calls'))] : []),
    ...(description === null ? [] : ['', withoutControls(description.trim())]),
    '',
    paint.dim('Input'),
    toParameters(schema),
    ...(isJsonObject(output) ? ['', paint.dim('Output schema'), withoutControls(printPretty(output))] : []),
  ];
  return `${parts.join('\n')}\n`;
}

/** A parameter per line; what a line cannot say stands in `--json`. */
function toParameters(schema: unknown): string {
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0) return '  none';
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return properties
    .map(([name, value]) => {
      const { type, enum: values, default: preset, description } = isJsonObject(value) ? value : {};
      const kind = Array.isArray(values) ? values.map((each) => printMessage(each)).join(' | ') : typeof type === 'string' ? type : 'any';
      const extra = [
        required.includes(name) ? 'required' : 'optional',
        ...(preset === undefined ? [] : [`default ${printMessage(preset)}`]),
      ].join(', ');
      const text = typeof description === 'string' ? `\n      ${withoutControls(description.trim()).replaceAll('\n', '\n      ')}` : '';
      return `  ${paint.bold(withoutControls(name))}  ${withoutControls(`${kind}, ${extra}`)}${text}`;
    })
    .join('\n');
}

/** Says that tools are called by code; empty where they are not. */
export function codeModeText({ code_mode: isOn }: PolicyReport): string {
  if (!isOn) return '';
  return 'Code mode is on: agents are listed search_tools, describe_tools and execute_code, and call by code what is "not shown to agents" here.';
}

/** Says who approves the calls that are meant. */
export function approvalText({ owner_can_approve: isWatched }: PolicyReport, calls = 'Calls of a tool with "(asks)"'): string {
  const other = isWatched
    ? 'else you are: notebridge approvals'
    : 'else the call is refused: only of "notebridge serve" you see what waits (notebridge approvals)';
  return `${calls} need a person's yes: who is at the agent is asked, if its host can show forms, ${other}.`;
}
