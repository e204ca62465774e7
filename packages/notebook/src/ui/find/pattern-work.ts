/** A place in one of several texts. */
export interface TextPlace {
  /** Of the text. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

export type PatternQuestion =
  | { readonly do: 'find'; readonly texts: readonly string[]; readonly pattern: RegExp; readonly max: number }
  /** `place`: where the one stands that is replaced; all of them without it. `by` may name groups. */
  | { readonly do: 'replace'; readonly texts: readonly string[]; readonly pattern: RegExp; readonly by: string; readonly place?: number };

export type PatternAnswer<Question extends PatternQuestion> = Question extends { do: 'find' } ? TextPlace[] : string[];

/** What a pattern does to texts. There are patterns that never come to an end: a person's own is given to a thread. */
export function work<Question extends PatternQuestion>(question: Question): PatternAnswer<Question> {
  return (question.do === 'find' ? find(question) : replace(question)) as PatternAnswer<Question>;
}

function find({ texts, pattern, max }: Extract<PatternQuestion, { do: 'find' }>): TextPlace[] {
  const places: TextPlace[] = [];
  for (const [index, text] of texts.entries())
    for (const match of text.matchAll(pattern)) {
      if (places.length >= max) return places;
      if (match[0] !== '') places.push({ index, from: match.index, to: match.index + match[0].length });
    }
  return places;
}

function replace({ texts, pattern, by, place }: Extract<PatternQuestion, { do: 'replace' }>): string[] {
  const { source, flags } = pattern;
  const one = new RegExp(source, place === undefined ? flags : flags.replace('g', 'y'));
  return texts.map((text) => {
    one.lastIndex = place ?? 0;
    return text.replace(one, by);
  });
}
