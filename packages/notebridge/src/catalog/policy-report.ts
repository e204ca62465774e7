/** How agents call tools, and who is asked, for the owner. */
export interface PolicyReport {
  /** Whether agents are listed the tools of code mode, and call others by code. */
  code_mode: boolean;
  /** Whether there are calls that a person has to approve. */
  approvals: boolean;
  /** Whether the owner sees calls that wait (`notebridge approvals`). If not, only an agent that shows forms can ask its person. */
  owner_can_approve: boolean;
}
