import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type Complete, type Listed, listOf, type PagePrompt, type PageResourceTemplate } from './definitions.js';
import { invalidParams, RpcError } from './peer.js';

interface Completing {
  readonly prompts?: Listed<PagePrompt> | undefined;
  readonly resourceTemplates?: Listed<PageResourceTemplate> | undefined;
}

/** MCP allows no more in one answer. */
const maxValues = 100;

/** Whether any argument of a prompt or template is completed. */
export function completes({ prompts, resourceTemplates }: Completing): boolean {
  return [...listOf(prompts), ...listOf(resourceTemplates)].some(({ complete }) => complete !== undefined);
}

/** Answers `completion/complete`. An argument that nobody completes has no values. */
export async function complete(definition: Completing, { ref, argument, context }: JsonObject): Promise<JsonObject> {
  const { name, value } = isJsonObject(argument) ? argument : {};
  const given = isJsonObject(context) && isJsonObject(context.arguments) ? context.arguments : {};
  const byName = completionsOf(definition, isJsonObject(ref) ? ref : {});
  const found = Object.hasOwn(byName, String(name))
    ? await byName[String(name)]?.(String(value ?? ''), given as Record<string, string>)
    : [];
  const values = found ?? [];
  return { completion: { values: values.slice(0, maxValues), total: values.length, hasMore: values.length > maxValues } };
}

function completionsOf({ prompts, resourceTemplates }: Completing, { type, name, uri }: JsonObject): Record<string, Complete> {
  const prompt = type === 'ref/prompt' ? listOf(prompts).find((each) => each.name === name) : undefined;
  const template = type === 'ref/resource' ? listOf(resourceTemplates).find((each) => each.uriTemplate === uri) : undefined;
  const found = prompt ?? template;
  if (found === undefined) throw new RpcError(invalidParams, `The page has no prompt or template "${name ?? uri}".`);
  return found.complete ?? {};
}
