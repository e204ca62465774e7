type Named = readonly [name: string, tex: string];

const block = (tex: string) => `$$${tex}$$`;
const nest = (open: string, times: number) => block(`${open.repeat(times)}x${'}'.repeat(times)}`);

/** Formulas that try to act, to reach out of their box, or never to end. */
export function hostileFormulas(): readonly Named[] {
  return [
    ['links', block('\\href{javascript:window.pwned=1}{x} \\url{javascript:window.pwned=1}')],
    ['an image', block('\\includegraphics{http://evil.example/x.png}')],
    ['a class of ours', block('\\htmlClass{drawer}{x} \\htmlId{app}{y} \\htmlStyle{position:fixed;inset:0}{z} \\htmlData{x=y}{w}')],
    ['a class, by its old name', block('\\class{top}{x}')],
    ['a definition that calls itself', block('\\def\\a{\\a\\a}\\a')],
    [
      'definitions that double',
      block(
        '\\def\\a{xx}\\def\\b{\\a\\a}\\def\\c{\\b\\b}\\def\\d{\\c\\c}\\def\\e{\\d\\d}\\def\\f{\\e\\e}\\def\\g{\\f\\f}\\def\\h{\\g\\g}\\h\\h\\h',
      ),
    ],
    [
      'expansions that double',
      block(
        '\\edef\\a{xx}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\edef\\a{\\a\\a}\\a',
      ),
    ],
    ['a long macro, often', block(`\\def\\a{${'x'.repeat(3000)}}${'\\a'.repeat(1500)}`)],
    ['a global macro', block('\\gdef\\frac#1#2{pwned}\\frac12')],
    ['a rule of a kilometre', block('\\rule{99999em}{99999em}\\rule[-99999em]{1em}{99999em}')],
    ['a step back', block(`${'\\kern{-9999em}'.repeat(30)}\\rule{50em}{50em}`)],
    ['raised far', block(`${'\\raisebox{9999em}{'.repeat(20)}x${'}'.repeat(20)}`)],
    ['smashed and overlapping', block('\\smash{\\rule{50em}{50em}}\\llap{\\rule{50em}{5em}}\\rlap{\\rule{50em}{5em}}')],
    ['a huge matrix', block(`\\begin{matrix}${`${'a&'.repeat(60)}a\\\\`.repeat(60)}\\end{matrix}`)],
    ['a wide matrix', block(`\\begin{matrix}${'a&'.repeat(3500)}\\end{matrix}`)],
    ['a nest of fractions', nest('\\frac{1}{', 400)],
    ['a nest of 12 fractions', nest('\\frac{1}{', 12)],
    ['a nest of roots', nest('\\sqrt{', 300)],
    ['a nest of 25 roots', nest('\\sqrt{', 25)],
    ['a nest of matrices', block(`${'\\begin{matrix}'.repeat(120)}x${'\\end{matrix}'.repeat(120)}`)],
    ['a nest of 9 matrices', block(`${'\\begin{matrix}a&'.repeat(9)}x${'&b\\\\c\\end{matrix}'.repeat(9)}`)],
    ['a nest of braces', nest('{', 3000)],
    ['a nest of powers', nest('x^{', 500)],
    ['large brackets', block(`${'\\left('.repeat(300)}x${'\\right)'.repeat(300)}`)],
    ['arrows', block('\\xrightarrow{aaaaaaaaaa}'.repeat(300))],
    ['boxes', block('\\boxed{\\fcolorbox{red}{blue}{x}}'.repeat(200))],
    ['colours that are none', block('\\color{url(http://evil.example)}x \\textcolor{#fff;position:fixed}{y}')],
    ['markup', block('<img src=x onerror=window.pwned=1>\\text{<script>window.pwned=1</script>}')],
    ['what browsers call something', block('\\text{&lt;script&gt;}\\unicode{x3c}script\\char"3c')],
    ['many', '$x^2$ '.repeat(3000)],
    ['many that are not closed', '\\begin{a} \\( \\[ $$ '.repeat(3000)],
    ['many errors', '$\\nope$ '.repeat(1000)],
    ['a comment', block('% no end')],
    ['verbatim', block('\\verb|<script>|')],
    ['control characters', block('\\char"0 \\char"FFFF \u0000\u0007')],
    ['lone surrogates', block('\ud800x\udfff')],
  ];
}
