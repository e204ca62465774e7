import { hostileFormulas } from './hostile-formulas.js';
import { markupInMarkdown } from './hostile-markup.js';

type Named = readonly [name: string, text: string];
const repeat = (text: string, times: number) => text.repeat(times);

/** Texts on which a grammar of Markdown works long, or never comes back. */
function slow(): readonly Named[] {
  const row = `|${repeat('a|', 1000)}\n`;
  return [
    ['a table of 1,000 columns and 500 rows', `${row}|${repeat('-|', 1000)}\n${repeat(row, 450)}`],
    ['3,000 quotes', repeat('>', 3000)],
    ['3,000 lists', repeat('- ', 3000)],
    ['3,000 numbered lists', repeat('1. ', 3000)],
    ['quotes and lists by turns', repeat('> - ', 1500)],
    ['dollars', repeat('$a ', 100_000)],
    ['dollars in pairs', repeat('$a$', 100_000)],
    ['double dollars', repeat('$$a\n\n', 60_000)],
    ['open stars', repeat('*a', 200_000)],
    ['open stars with spaces', repeat('*a ', 100_000)],
    ['double stars', repeat('**a', 100_000)],
    ['stars and lines', repeat('*a_', 100_000)],
    ['strokes', repeat('~~a', 100_000)],
    ['open brackets', repeat('[', 100_000)],
    ['open links', repeat('[a](', 60_000)],
    ['open images', repeat('![a](b "', 40_000)],
    ['references', repeat('[a][b]', 60_000)],
    ['definitions', Array.from({ length: 20_000 }, (_, at) => `[a${at}]: http://x "${at}"`).join('\n')],
    ['backticks of all lengths', Array.from({ length: 1000 }, (_, at) => repeat('`', at)).join('a')],
    ['fences', repeat('```\n~~~\n', 40_000)],
    ['open tags', repeat('<', 200_000)],
    ['open comments', repeat('<!-- a ', 50_000)],
    ['autolinks', repeat('http://a.b/?', 50_000)],
    ['mail addresses', repeat('a@b.', 100_000)],
    ['escapes', repeat('\\', 300_000)],
    ['entities', repeat('&a', 200_000)],
    ['bars', repeat('|', 300_000)],
    ['underlines', repeat('a\n===\n', 60_000)],
    ['rules', repeat('* * *\n', 60_000)],
    ['lists that go deeper', Array.from({ length: 600 }, (_, at) => `${repeat('  ', at)}- a`).join('\n')],
    ['tasks', repeat('- [x] a\n', 40_000)],
    ['one word', repeat('x', 900_000)],
    ['one line', repeat('word ', 180_000)],
    ['headings', repeat('# a\n', 100_000)],
    ['nothing but spaces', `a${repeat(' ', 500_000)}b`],
    ['nothing but tabs', repeat('\t\n', 200_000)],
    ['line ends', repeat('\r\n\r', 200_000)],
    ['lone surrogates', repeat('\ud800*a*\udfff', 20_000)],
    ['bidi marks', repeat('\u202e\u2067text', 20_000)],
  ];
}

/** Each as the source of a text cell. */
export function hostileMarkdown(script: string): readonly Named[] {
  return [
    ...slow(),
    ...markupInMarkdown(script),
    ...hostileFormulas().map(([name, tex]): Named => [`formula: ${name}`, `text\n\n${tex}`]),
    [
      'links and images',
      '[a](javascript:alert(1)) [b](data:text/html,x) ![p](http://evil.example/p.png) ![q](attachment:none.png) ![r](attachment:%) <http://evil.example>',
    ],
    [
      'an image that is a drawing',
      `![x](data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload='${script}'/>`).toString('base64')})`,
    ],
  ];
}
