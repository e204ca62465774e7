import { isJsonObject } from '@notebridge/kit/json';
import type { Question } from '../../core/questions.js';
import type { ShownCall } from './approval-text.js';
import type { Decision } from './pending-approvals.js';

/** The question to the person at an agent, as a form. */
export function toApprovalQuestion({ message }: ShownCall): Question {
  return {
    method: 'elicitation/create',
    params: {
      message,
      requestedSchema: {
        type: 'object',
        properties: {
          decision: {
            type: 'string',
            title: 'Approve',
            description: 'This call alone, or this tool for as long as this session lasts. To refuse, decline.',
            enum: ['once', 'session'],
            enumNames: ['This call', 'This tool, in this session'],
            default: 'once',
          },
        },
        required: ['decision'],
      },
    },
  };
}

/** What the person decided. Only an `accept` that says what for approves: one without a decision, as a host sends that shows no forms, does not. */
export function toDecision(answer: unknown): Decision {
  if (!isJsonObject(answer) || answer.action !== 'accept') return 'deny';
  const decision = isJsonObject(answer.content) ? answer.content.decision : undefined;
  return decision === 'once' || decision === 'session' ? decision : 'deny';
}
