import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Config } from '../../config/config.js';
import type { ApprovalMode } from '../../config/server-config.js';
import { ApprovalPolicy } from '../../grants/approvals/approval-policy.js';
import { parseCodeMode } from '../command-options.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** How agents call tools by this config, and which calls wait for a person. `isServed`: a hub of the user serves, where the owner can be asked. */
export function checkPolicy(config: Config, isServed: boolean): Check[] {
  return [checkCodeMode(config), checkApprovals(config, isServed)];
}

function checkCodeMode({ codeMode, servers }: Config): Check {
  const variable = process.env.NOTEBRIDGE_CODE_MODE ?? '';
  const isSet = !['', '0', 'false'].includes(variable);
  if (!codeMode.enabled && !isSet)
    return ok('code mode', 'off: agents are listed each tool ("--code-mode" of stdio and serve, or "notebridge.codeMode", switches it on)');
  try {
    if (isSet) parseCodeMode(variable);
  } catch (error) {
    // Hubs do not start with it.
    return failedCheck('code mode', `NOTEBRIDGE_CODE_MODE is ${JSON.stringify(variable)}`, messageOf(error));
  }
  const by = codeMode.enabled ? 'the config' : 'NOTEBRIDGE_CODE_MODE';
  const direct = servers.filter(({ expose }) => expose === 'direct').map(({ name }) => name);
  const rest = direct.length === 0 ? '' : `, and the tools of ${direct.join(', ')}`;
  return ok('code mode', `on by ${by}: agents are listed search_tools, describe_tools and execute_code${rest}`);
}

const what: Record<Exclude<ApprovalMode, 'none'>, string> = {
  listed: 'tools that the config names',
  destructive: 'calls that may destroy something',
  writes: 'calls that may change something',
};

function checkApprovals(config: Config, isServed: boolean): Check {
  const policy = new ApprovalPolicy(config, []);
  if (!policy.isOn) return ok('approvals', 'none: no call waits for a person ("notebridge.approve" in the config)');
  const modes = config.servers.map(({ name }) => ({ name, mode: policy.modeOf(name) }));
  const parts = (Object.keys(what) as (keyof typeof what)[]).flatMap((mode) => {
    const names = modes.filter((one) => one.mode === mode).map(({ name }) => name);
    return names.length === 0 ? [] : [`${what[mode]}, of ${names.join(', ')}`];
  });
  const found = `a person approves ${parts.length === 0 ? what[config.approve as keyof typeof what] : parts.join('; ')}`;
  if (isServed)
    return ok('approvals', `${found}. Who is at the agent is asked, if its host can show forms, else you are: notebridge approvals`);
  return note(
    'approvals',
    `${found}. Who is at the agent is asked, if its host can show forms; nobody else can be, since no hub serves`,
    'For hosts without forms, run "notebridge serve" and connect them to it: notebridge setup HOST --url. Then you are asked: notebridge approvals',
  );
}
