import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import type { Completions } from '../../kernel/kernel.js';

/** Asks the kernel; undefined if it cannot be asked. */
export type AskCompletions = (code: string, position: number) => Promise<Completions | undefined>;

/**
 * What the kernel offers: it knows the variables and what they have. While it is busy, or knows nothing, what the text itself tells, as far as
 * the language of the cell can.
 */
export function completeByKernel(ask: AskCompletions): CompletionSource {
  return async (context) => {
    const code = context.state.doc.toString();
    const found = await ask(code, context.pos);
    if (context.aborted) return null;
    if (!found || found.matches.length === 0) return fromText(context);
    const typed = code.slice(found.start, context.pos);
    return {
      from: found.start,
      to: found.end,
      options: found.matches.map((match, index) => ({ label: match, boost: -index / found.matches.length })),
      // Typing on filters the list; with another character than those of a name, the kernel is asked again.
      validFor: /^[\p{L}\p{N}_]*$/u,
      filter: found.matches.every((match) => match.toLowerCase().startsWith(typed.toLowerCase())),
    } satisfies CompletionResult;
  };
}

async function fromText(context: CompletionContext): Promise<CompletionResult | null> {
  for (const source of context.state.languageDataAt<CompletionSource>('autocomplete', context.pos)) {
    const result = typeof source === 'function' ? await source(context) : null;
    if (result && result.options.length > 0) return result;
  }
  return null;
}
