import type { JsonObject } from '@notebridge/protocol/json';
import type { Program } from './program.js';

/** What a tool of a notebook answers: its JSON; under `text` what is no JSON, and an error of the protocol, so that a test that fails shows it. */
export async function callTool(program: Program, name: string, args: JsonObject = {}): Promise<JsonObject> {
  const { result, ...rest } = await program.callTool(name, args);
  const text = (result as { content: { text: string }[] } | undefined)?.content[0]?.text ?? JSON.stringify(rest);
  return text.startsWith('{') ? JSON.parse(text) : { text };
}
