import type { KernelChoice } from '@notebridge/notebook/host';
import { asTyped } from '../own-command.js';
import { withoutControls } from '../terminal-logger.js';

/** What runs the code of a notebook, for the person at the terminal, and what would be better: lines. */
export function describeChoice({ displayName, reason, isolation, proposal, notice }: KernelChoice): string[] {
  const lines = [`Its code runs in ${displayName}: ${reason}.`, isolation];
  if (proposal) lines.push(`${proposal.question} Answer in the window, or start with: --kernel ${proposal.id}`);
  if (notice !== null) lines.push(notice);
  return lines.map((line) => asTyped(withoutControls(line)));
}
