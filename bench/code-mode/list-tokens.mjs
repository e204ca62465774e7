// What a list of tools costs an agent before its first word: all tools by themselves, and the three of code mode.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { bindingsInput } from '../bindings/tools.mjs';

export const tokenizer = 'o200k_base (gpt-tokenizer)';
/** What instructions and all three definitions of code mode may take; held by a test of the program. */
export const codeModeBudget = 1500;

export const tokensOf = (value) => countTokens(typeof value === 'string' ? value : JSON.stringify(value));

/** Real tools as agents see them, and made-up ones behind them, as many as are asked for. */
export function directList(tools, count) {
  const real = Object.entries(tools).flatMap(([server, listed]) => listed.map((tool) => shownTool(server, tool)));
  const made = bindingsInput(Math.max(0, count - real.length)).servers.flatMap(({ name, tools: listed }) =>
    listed.map((tool) => shownTool(name, tool)),
  );
  return { list: [...real, ...made].slice(0, count), real: Math.min(count, real.length) };
}

/** Only what hosts hand to models: no output schema, no annotations. */
function shownTool(server, { name, description, inputSchema }) {
  return { name: `${server}__${name}`, description, inputSchema };
}
