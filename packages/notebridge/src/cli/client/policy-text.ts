import type { PolicyReport } from '../../catalog/policy-report.js';

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
