import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** What helps. */
export const pushHint =
  'In the config of this server write "era": "legacy" together with "instances": "per-agent", so that each agent has it in its own process ' +
  'and can be asked.';

/** The official SDKs refuse to send these requests in the modern era, and name them in the text of the failed tool: there is no code for it. */
const askedByRequest = /\b(?:elicitation\/create|sampling\/createMessage|roots\/list)\b/;

/** True for the result of a tool that has failed because it can ask by requests alone, which the modern era does not have. */
export function hasPushed({ isError, content }: JsonObject): boolean {
  return isError === true && Array.isArray(content) && content.some((block) => askedByRequest.test(textOf(block)));
}

/** The result with what helps, once. */
export function withPushHint(result: JsonObject): JsonObject {
  const content = result.content as unknown[];
  if (content.some((block) => textOf(block).includes(pushHint))) return result;
  const text = `This tool asks by a request to its client, which servers of 2026-07-28 cannot send. ${pushHint}`;
  return { ...result, content: [...content, { type: 'text', text }] };
}

function textOf(block: unknown): string {
  return isJsonObject(block) && typeof block.text === 'string' ? block.text : '';
}
