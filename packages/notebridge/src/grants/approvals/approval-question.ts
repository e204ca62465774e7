import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
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

/** What the person decided. Only `accept` approves; whatever the form cannot have given does not. */
export function toDecision(answer: unknown): Decision {
  if (!isJsonObject(answer) || answer.action !== 'accept') return 'deny';
  const { decision = 'once' } = isJsonObject(answer.content) ? answer.content : ({} as JsonObject);
  return decision === 'once' || decision === 'session' ? decision : 'deny';
}
