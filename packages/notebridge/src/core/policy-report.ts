import type { CodeModeStyle } from './code-mode-limits.js';

/** How agents call tools, and who is asked, for the owner. */
export interface PolicyReport {
  /** The tools of code mode that agents are listed; null: they are listed those of the servers alone. */
  code_mode: CodeModeStyle | null;
  /** Whether there are calls that a person has to approve. */
  approvals: boolean;
  /** Whether the owner sees calls that wait (`notebridge approvals`). If not, only an agent that shows forms can ask its person. */
  owner_can_approve: boolean;
}
