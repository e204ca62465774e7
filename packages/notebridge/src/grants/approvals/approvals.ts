import { createHash } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { canAnswer, isInputRequired, type Question } from '@notebridge/protocol/core/questions';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { agentKey } from '@notebridge/protocol/questions/agent-key';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { ApprovedBy } from '../audit-line.js';
import { notebookServer } from '../guarded-methods.js';
import type { ApprovalPolicy } from './approval-policy.js';
import { type ShownCall, showCall } from './approval-text.js';
import { type AskedCallOf, AskedStates } from './asked-states.js';
import type { ApprovalOutcome, Decision, PendingApprovals, WhoWaits } from './pending-approvals.js';
import { toReadableCall, toSentCall } from './readable-call.js';

export interface ApprovalsOptions {
  /** Asked at each call: it changes with the config. */
  policy: () => ApprovalPolicy;
  /** Calls whose agent cannot ask its person wait there for the owner. */
  pending: PendingApprovals;
  /** What the owner called the grant of a caller. */
  labelOf: (principal: Principal) => string | undefined;
  redactor: Redacting;
  logger: Logger;
  /** How long a person may take to answer. Milliseconds. */
  timeoutMs: number;
}

/** A call may go on, exactly as it was shown. */
export interface Approved {
  by: ApprovedBy;
  context: MiddlewareContext;
  /** What its caller gets for a result. */
  toAnswer: (result: JsonObject) => JsonObject;
}

/** Not yet: the agent of the modern era is asked by this answer, and calls again. */
export interface StillAsked {
  asks: JsonObject;
}

/** To whoever watches the call at the agent. */
const toldWhileWaiting = 'Waits for the owner of the hub to approve it: notebridge approvals';
/** The key of our question in `inputRequests`. */
const questionKey = 'notebridge-approval';
const asItIs = (result: JsonObject): JsonObject => result;

/**
 * Asks a person before a call is made, where the config says so. The person at the agent is asked through it, if it can show forms; else
 * the owner, by `notebridge approvals`. Nothing that an agent writes approves: only the answer to that question does. Every way out of
 * a question but a yes is a refusal.
 */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #sessions = new SessionApprovals();
  readonly #states: AskedStates;
  /** The last question about a tool in a session: the next one waits, since a yes may be for all of them. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#states = new AskedStates(options.timeoutMs);
  }

  /** False: `ask` asks about no call. */
  get isOn(): boolean {
    return this.#options.policy().isOn;
  }

  /** Undefined: nobody needs to be asked. Rejects with `not_approved`, `bad_params` for a `requestState` that is not ours, `limit_reached`. */
  ask(
    context: MiddlewareContext,
    address: ToolAddress,
    findTool: () => Tool | undefined | Promise<Tool | undefined>,
  ): Promise<Approved | StillAsked | undefined> | undefined {
    const policy = this.#options.policy();
    switch (policy.judge(address)) {
      case 'no':
        return undefined;
      case 'yes':
        return findOrNone(findTool).then((tool) => this.#ask(context, address, tool));
      case 'hints':
        return Promise.resolve(findTool()).then((tool) => (policy.isMeant(address, tool) ? this.#ask(context, address, tool) : undefined));
    }
  }

  /** Refuses what waits. Closing twice is harmless. */
  close(): void {
    this.#states.close();
    this.#options.pending.close();
  }

  async #ask(context: MiddlewareContext, address: ToolAddress, tool: Tool | undefined): Promise<Approved | StillAsked> {
    const { message } = context;
    const who = whoCalls(context);
    const call: AskedCallOf = { address, who, context, ...toReadableCall(message, callsAgain(context)) };
    // A yes for the session is for what the person knew: another command or definition under the same name is asked about anew.
    const what = [this.#options.policy().entryOf(address.server), digestOf(tool)];
    const key = JSON.stringify([who.principal, who.agent, address.server, address.tool === '' ? message.name : address.tool, ...what]);
    if (context.isTyped === true) return this.#approve('owner', call);
    // Before the session: what was asked about this call alone is answered about it alone.
    if (callsAgain(context) && message.requestState !== undefined) return this.#takeUp(call);
    if (this.#sessions.has(key)) return this.#approve('session', call);
    const shown = this.#show(call);
    const question = toApprovalQuestion(shown);
    if (canAnswer(context.clientCapabilities, question)) {
      if (context.ask !== undefined) return withoutClock(context, () => this.#askDuring(call, key, shown));
      if (callsAgain(context)) {
        const requestState = this.#states.keep(call, { kind: 'asked', key });
        return { asks: { resultType: 'input_required', inputRequests: { [questionKey]: question }, requestState } };
      }
    }
    return withoutClock(context, () => this.#askOwner(call, key, shown));
  }

  /** An agent of the modern era calls again. */
  #takeUp(call: AskedCallOf): Approved {
    const { message } = call.context;
    const kept = this.#states.take(message.requestState, call);
    if (kept === undefined) {
      const text =
        'The "requestState" was not issued for this call with these arguments, was used before, or has ended. Call anew without it.';
      throw new BridgeError('bad_params', text);
    }
    const { inputResponses } = message;
    if (kept.kind === 'approved') {
      const inner = kept.inner === undefined ? {} : { requestState: kept.inner };
      const answers = inputResponses === undefined ? {} : { inputResponses };
      return this.#approve(kept.by, call, { ...answers, ...inner });
    }
    const decision = toDecision(isJsonObject(inputResponses) ? inputResponses[questionKey] : undefined);
    if (decision === 'deny') throw refused(call, 'declined');
    if (decision === 'session') this.#sessions.add(kept.key);
    return this.#approve('elicitation', call);
  }

  /**
   * The call that is sent is the one that was approved: with what was shown, read anew from its text, since a caller in this process could
   * have changed it meanwhile; to the tool that was shown, whatever its name has come to stand for. What its server asks in turn comes back
   * under a state of ours, so that the answer is known to be of an approved call. `answers`: to what its server asked.
   */
  #approve(by: ApprovedBy, call: AskedCallOf, answers: JsonObject = {}): Approved {
    const { address, context } = call;
    const isKnown = address.server !== notebookServer && address.tool !== '';
    const message = { ...toSentCall(context.message.name, call), ...answers };
    const keepAsked = (result: JsonObject): JsonObject =>
      isInputRequired(result)
        ? { ...result, requestState: this.#states.keep(call, { kind: 'approved', by, inner: result.requestState }) }
        : result;
    return {
      by,
      context: context.copy({ message, target: isKnown ? address : undefined }),
      toAnswer: callsAgain(context) ? keepAsked : asItIs,
    };
  }

  async #askDuring(call: AskedCallOf, key: string, shown: ShownCall): Promise<Approved> {
    const { context } = call;
    const { cancellation } = context;
    const { timeoutMs } = this.#options;
    const before = this.#lines.get(key);
    const asked = (async (): Promise<Approved> => {
      if (before !== undefined && !(await settlesWithin(before, timeoutMs, context.signal)))
        throw refused(call, cancellation.reason === undefined ? 'timeout' : 'cancelled');
      if (this.#sessions.has(key)) return this.#approve('session', call);
      const answer = await context.ask?.(toApprovalQuestion(shown), { cancellation, timeoutMs }).catch((error: unknown) => {
        // Nobody waits for the code just now.
        if (codeOf(error) === 'unanswered_question' && cancellation.reason === undefined) return undefined;
        if (cancellation.reason !== undefined) throw refused(call, 'cancelled', error);
        throw refused(call, codeOf(error) === 'timeout' ? 'timeout' : 'failed', error);
      });
      // The answer may have crossed with the cancellation.
      if (cancellation.reason !== undefined) throw refused(call, 'cancelled');
      if (answer === undefined) return this.#askOwner(call, key, shown);
      const decision = toDecision(answer);
      if (decision === 'deny') throw refused(call, 'declined');
      if (decision === 'session') this.#sessions.add(key);
      return this.#approve('elicitation', call);
    })();
    this.#lines.set(key, asked);
    try {
      return await asked;
    } finally {
      if (this.#lines.get(key) === asked) this.#lines.delete(key);
    }
  }

  async #askOwner(call: AskedCallOf, key: string, shown: ShownCall): Promise<Approved> {
    const { pending, timeoutMs, logger } = this.#options;
    if (!pending.isWatched) throw refused(call, 'nobody');
    const { who, context } = call;
    const onAdded = (id: string): void => {
      const { server, tool } = shown;
      logger.warn('A call waits for your approval: `notebridge approvals`.', { id, call_id: context.callId, server, tool });
      context.forwardProgress({ progress: 0, message: toldWhileWaiting });
    };
    const outcome = await pending.wait(shown, { key, who, cancellation: context.cancellation, timeoutMs, onAdded });
    if (outcome === 'session') this.#sessions.add(key);
    if (outcome === 'once' || outcome === 'session') return this.#approve('owner', call);
    throw refused(call, reasonOf[outcome]);
  }

  #show({ address, exact, beside, context }: AskedCallOf): ShownCall {
    const { redactor, labelOf } = this.#options;
    const label = labelOf(context.caller.principal ?? owner);
    const tool = address.tool === '' ? String(context.message.name) : address.tool;
    return showCall({ server: address.server, tool }, { exact, beside, context, label, redactor });
  }
}

/** One that cannot be found is asked about as well. */
async function findOrNone(findTool: () => Tool | undefined | Promise<Tool | undefined>): Promise<Tool | undefined> {
  try {
    return await findTool();
  } catch {
    return undefined;
  }
}

function digestOf(tool: Tool | undefined): string {
  return createHash('sha256')
    .update(printJson(tool ?? null))
    .digest('base64');
}

const reasonOf: Record<Exclude<ApprovalOutcome, 'once' | 'session'>, keyof typeof reasons> = {
  deny: 'declined',
  timeout: 'timeout',
  cancelled: 'cancelled',
  closed: 'closed',
};

const reasons = {
  declined: 'the person who was asked declined',
  timeout: 'nobody answered in time (`notebridge.limits.answerTimeoutMs`)',
  cancelled: 'the call was cancelled before anybody had answered',
  failed: 'the agent could not ask its person',
  closed: 'the hub ends',
  nobody:
    'nobody can be asked: the agent shows no forms, and is not connected to a hub of `notebridge serve`, where the owner sees calls that wait (`notebridge approvals`). Connect it to one (`notebridge setup HOST --url`), or use an agent that shows forms',
};

function refused({ address: { server, tool }, context }: AskedCallOf, reason: keyof typeof reasons, cause?: unknown): BridgeError {
  const name = JSON.stringify(tool === '' ? context.message.name : tool);
  const why = cause === undefined || reason !== 'failed' ? '' : `: ${messageOf(cause)}`;
  const text = `A person has to approve calls of ${name} of ${JSON.stringify(server)}, and ${reasons[reason]}${why}. It was not made.`;
  return new BridgeError('not_approved', text, { data: { reason, server, tool }, cause });
}

/** The time that a person takes is none of the code that has made the call. */
async function withoutClock<Result>({ parent }: CallContext, work: () => Promise<Result>): Promise<Result> {
  const goOn = parent?.pauseClock?.();
  try {
    return await work();
  } finally {
    goOn?.();
  }
}

/** True for an agent that is asked by an answer, and then calls again. */
function callsAgain({ caller, parent, ask }: CallContext): boolean {
  return caller.era === 'modern' && parent === undefined && ask === undefined;
}

/** The agent in whose session an approval holds: of code, the one that runs it. Its own words tell apart who shares a token. */
function whoCalls({ caller, parent }: CallContext): WhoWaits {
  const agent = parent?.caller ?? caller;
  return { principal: principalKey(agent.principal ?? owner), agent: agentKey(agent) };
}

/** Beyond these the oldest is forgotten, and asked about again. */
const mostKept = 10_000;

/** Tools that a person has approved for a session. Sessions have ids that never come again, so that none need be told of their end. */
class SessionApprovals {
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > mostKept && oldest !== undefined) this.#keys.delete(oldest);
  }
}

/** The question to the person at an agent, as a form. */
function toApprovalQuestion({ message }: ShownCall): Question {
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
