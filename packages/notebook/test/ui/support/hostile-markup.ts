type Named = readonly [name: string, text: string];

const repeat = (text: string, times: number) => text.repeat(times);
const numbered = (times: number, make: (at: number) => string) => Array.from({ length: times }, (_, at) => make(at)).join('');

/** Styles that keep a parser, or what matches selectors, busy for long. */
export function cssBombs(): readonly Named[] {
  const elements = '<i></i>';
  const nests = [
    'a{',
    ':is(',
    ':not(',
    ':where(',
    ':has(',
    '@media x{',
    '@layer a{',
    '@supports (a:b){',
    '@container (width>0){',
    '(',
    '[',
    'a{color:rgb(',
  ];
  return [
    ...nests.map((nest): Named => [`${nest} 10,000 deep`, repeat(nest, 10_000)]),
    ['calc( 5,000 deep', `p{width:${repeat('calc(', 5000)}1px${repeat(')', 5000)}}`],
    ['calc( 5,000 deep in an attribute', `</style><p style="width:${repeat('calc(', 500)}1px${repeat(')', 500)}">x</p><style>`],
    [
      'variables that double',
      `:host{--a0:xxxxxxxxxx;${numbered(60, (at) => `--a${at + 1}:var(--a${at})var(--a${at});`)}}p::before{content:var(--a60)}`,
    ],
    ['50,000 rules', numbered(50_000, (at) => `.c${at}{color:red}`)],
    ['100,000 selectors', `${repeat('*,', 100_000)}p{color:red}`],
    ['what looks at everything', `</style>${repeat(elements, 8000)}<style>${numbered(3000, (at) => `* * * i:not(.a${at}){color:red}`)}`],
    ['what looks at all beside it', `</style>${repeat(elements, 8000)}<style>${numbered(200, (at) => `i ~ i ~ i ~ .a${at}{color:red}`)}`],
    [':has of everything', `</style>${repeat(elements, 8000)}<style>${numbered(500, (at) => `:has(* + * + .a${at}){color:red}`)}`],
    ['a string that never ends', `p{font-family:"${repeat('a', 100_000)}`],
    ['comments that never end', repeat('/*', 100_000)],
    ['closing brackets', repeat('}', 100_000)],
    ['imports', repeat('@import url(http://evil.example/i.css);', 1000)],
    [
      'addresses',
      'p{background:url(http://evil.example/b.png);list-style:url(http://evil.example/l.png);cursor:url(http://evil.example/c)}',
    ],
    [
      'addresses in disguise',
      'p{background:\\75rl(http://evil.example/b.png);background:image-set("http://evil.example/i.png" 1x)}@font-face{font-family:f;src:url(http://evil.example/f)}p{font-family:f}',
    ],
    ['a grid of a million columns', 'p{display:grid;grid-template-columns:repeat(1000000,1px)}'],
    [
      'the host',
      ':host,:host(*),:host-context(body){position:fixed!important;inset:0!important;z-index:99999!important;contain:none!important;display:block!important}',
    ],
    ['an endless animation', '@keyframes k{from{transform:none}to{transform:scale(99)}}p{animation:k 1ms infinite;transition:all 9s}'],
    ['filters', 'p{filter:blur(9999px);backdrop-filter:blur(9999px);box-shadow:0 0 9999px 9999px red;text-shadow:0 0 9999px red}'],
    ['numbers out of all proportion', 'p{width:1e30px;height:99999999px;font-size:9999999px;margin:-99999px;columns:100000;zoom:1000}'],
  ];
}

/** How an element may try to leave its box, or to be more than it is. */
const escapes: readonly string[] = [
  'position:fixed;inset:0;z-index:99999;background:red',
  'position:absolute;inset:-2000px;z-index:99999;background:red',
  'position:sticky;top:0;height:100vh;background:red',
  'margin:-500px -500px 0;padding:600px;background:red',
  'transform:translateY(-300px) scale(9);background:red;height:200px',
  'translate:0 -300px;scale:9;rotate:45deg;background:red;height:200px',
  'float:left;margin-top:-800px;width:4000px;height:4000px;background:red',
  'outline:5000px solid red',
  'box-shadow:0 0 0 5000px red',
  'height:100000000px;width:100000000px;background:red',
  'display:block;position:absolute;position-anchor:--x;inset-area:top;top:-300px;height:300px;background:red',
  'view-transition-name:root;z-index:2147483647;isolation:auto;position:relative;top:-300px;height:300px;background:red',
  'clip-path:none;overflow:visible;position:relative;top:-300px;height:300px;background:red;pointer-events:all;cursor:none',
  'content-visibility:visible;contain:none;will-change:transform;margin-top:-300px;height:300px;background:red',
  'border:5000px solid red;margin:-5000px',
  'text-indent:-9999px;letter-spacing:5000px;word-spacing:9999px;line-height:0',
];

/** Names and roles of the page. */
const impostors: readonly string[] = [
  '<div class="drawer" id="changes">drawer</div>',
  '<div class="hint is-running" role="group">Claude is working in cell 1 <b class="stop">Stop</b></div>',
  '<div class="top"><div class="bar">bar</div></div><div class="banner error" role="alert">The notebook was closed</div>',
  '<section class="cell selected" data-cell-id="x"><div class="cell-tools">tools</div><div class="source cm-editor">source</div></section>',
  '<div class="dialog" role="dialog" aria-modal="true" aria-labelledby="dialog-title" aria-owns="app"><h2 id="dialog-title">Sure?</h2></div>',
  '<div id="app" role="main" aria-live="assertive" aria-hidden="true" inert hidden="no">app</div>',
  '<dialog open>modal</dialog><div popover id="p">pop</div><button popovertarget="p" popovertargetaction="show">pop</button>',
  '<details name="x" open><summary accesskey="s" tabindex="1" autofocus>sum</summary>body</details>',
  '<form id="f" action="http://evil.example/f"><input name="getElementById" autofocus><input name="attributes"><label for="app">l</label><button formaction="javascript:1">Send</button><select><option>1</select><textarea>t</textarea></form>',
  '<a id="document" name="document" href="#app">a</a><img name="cookie" id="body" src="data:image/png;base64,x"><a id="x"></a><a id="x" name="y"></a>',
  '<p contenteditable draggable="true" is="x-y" part="p" slot="s" itemscope itemprop="i" nonce="n" exportparts="e" enterkeyhint="go">text</p><slot name="s">slot</slot>',
  '<main><nav><header><footer><aside>landmarks</aside></footer></header></nav></main>',
  '<marquee behavior="alternate" scrollamount="1000">moves</marquee><blink>x</blink><center>c</center><font size="7" color="red">f</font>',
];

/** What acts or loads, or tries to. */
function active(script: string): readonly string[] {
  const quoted = script.replaceAll('"', '&quot;');
  return [
    `<script>${script}</script><script src="http://evil.example/s.js"></script><script type="module">${script}</script>`,
    `<img src=x onerror="${quoted}"><img srcset="http://evil.example/p 1x" src="http://evil.example/p"><picture><source srcset="http://evil.example/q"><img></picture>`,
    `<svg onload="${quoted}"><animate onbegin="${quoted}" attributeName="x"/><script>${script}</script><use href="http://evil.example/u#x"/></svg>`,
    `<iframe srcdoc="<script>parent.pwned=true</script>"></iframe><iframe src="javascript:${quoted}"></iframe><fencedframe></fencedframe><portal src="http://evil.example"></portal>`,
    '<object data="http://evil.example/o"><embed src="http://evil.example/e"></object><applet code="x"></applet>',
    '<meta http-equiv="refresh" content="0;url=http://evil.example/m"><base href="http://evil.example/"><link rel="stylesheet" href="http://evil.example/c.css"><link rel="prefetch" href="http://evil.example/d">',
    `<video src="http://evil.example/v" autoplay poster="http://evil.example/w" onerror="${quoted}"></video><audio src="http://evil.example/a" autoplay></audio>`,
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;"></mtext></math>',
    '<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
    '<template><img src=x onerror=alert(1)></template><div><template shadowrootmode="open"><style>:host{position:fixed}</style></template></div>',
    `<a href="javascript:${quoted}">a</a><a href="&#106;avascript:alert(1)">b</a><a href="data:text/html,<script>1</script>">c</a><a href=" http://evil.example" ping="http://evil.example/ping" target="_top" download>d</a>`,
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript><xmp><img src=x></xmp><plaintext><p>all of this is text',
    '<frameset onload=alert(1)><frame src="javascript:alert(1)"></frameset>',
    '<html><head><title>t</title></head><body onload=alert(1) background="http://evil.example/b">body</body></html>',
    '<table background="http://evil.example/t"><tr><td style="background:url(http://evil.example/u)">x</td></tr></table><input type="image" src="http://evil.example/i">',
    '<img src="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 onload=%22alert(1)%22%3E%3Cscript%3Ealert(1)%3C/script%3E%3C/svg%3E">',
    '<div\u000conclick=alert(1) style=x:expression(alert(1))>x</div><div style="behavior:url(http://evil.example)">y</div><<p>z<//p><p/onload=1>',
  ];
}

/** Shapes that a parser or a layout works on for long. */
function shapes(): readonly Named[] {
  return [
    ['100,000 open boxes', repeat('<div>', 100_000)],
    ['100,000 open bold', repeat('<b>', 100_000)],
    ['bold that is opened again in each paragraph', numbered(8000, (at) => `<b title=${at}>`) + repeat('<p>x', 8000)],
    ['5,000 tables in one another', `${repeat('<table><tr><td>', 5000)}x`],
    ['1,000 flexible boxes in one another', `${repeat('<div style="display:flex"><div style="display:grid">', 500)}x`],
    ['60 inline tables in one another', `${repeat('<div style="display:inline-table;width:50%">', 60)}x`],
    ['lists in one another', repeat('<ul><li>', 20_000)],
    ['tags that never end', repeat('<a ', 200_000)],
    ['quotes that never end', repeat('<a b="c', 100_000)],
    ['attributes without number', `<p ${numbered(50_000, (at) => `a${at}=1 `)}>x`],
    ['comments that never end', repeat('<!--', 100_000)],
    ['declarations', repeat('<![CDATA[<!x', 50_000)],
    ['styles that never end', repeat('<style>', 80_000)],
    ['30,000 styles', repeat('<style>p{color:red}</style>', 30_000)],
    ['scripts that never end', repeat('<script', 80_000)],
    ['a table of 100,000 cells', `<table>${repeat(`<tr>${repeat('<td>1', 100)}`, 1000)}</table>`],
    ['cells that span all', `<table>${repeat('<tr>'.concat(repeat('<td rowspan=65534 colspan=1000>x', 20)), 500)}</table>`],
    ['columns without number', `<table>${repeat('<col span=1000>', 20_000)}<tr><td>x</table>`],
    ['300,000 line breaks', repeat('<br>', 200_000)],
    ['a word of 900,000 letters', `<p>${repeat('x', 900_000)}</p>`],
    ['a line that turns at each word', `<p>${repeat('abc \u05d0\u05d1 ', 100_000)}</p>`],
    ['entities', repeat('&amp;&nbsp;&#8238;&notanentity;', 25_000)],
    ['closing tags', repeat('</div></p></table></b>', 40_000)],
    ['20,000 images', repeat('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', 15_000)],
    [
      '5,000 styles in attributes',
      numbered(20_000, (at) => `<i style="color:rgb(1,2,${at % 255});background:linear-gradient(red,blue)">x</i>`),
    ],
    ['details in details', repeat('<details open><summary>x</summary>', 10_000)],
    ['selects in selects', repeat('<select><option>', 50_000)],
    ['links in links', repeat('<a href="http://example.org/">x', 30_000)],
    ['null characters and controls', repeat('\u0000<p>\u0008\u001b\u007f</p>', 30_000)],
    ['lone surrogates', repeat('\ud800<b>\udc00</b>', 30_000)],
    ['ruby in ruby', repeat('<ruby>x<rt>', 20_000)],
    ['headings in headings', repeat('<h1><h2>', 40_000)],
  ];
}

/** Each as an output of HTML. */
export function hostileMarkup(script: string): readonly Named[] {
  return [
    ...escapes.map(
      (style): Named => [style.slice(0, 40), `<div style="${style}">over</div><style>.e{${style}}</style><div class="e">over</div>`],
    ),
    ...impostors.map((html): Named => [html.slice(0, 40), html]),
    ...active(script).map((html): Named => [html.slice(0, 40), html]),
    ...shapes(),
  ];
}

/** The same where Markdown lets HTML through. */
export function markupInMarkdown(script: string): readonly Named[] {
  return [
    ...escapes.map((style): Named => [style.slice(0, 40), `<div style="${style}">over</div>`]),
    ...impostors.map((html): Named => [html.slice(0, 40), html]),
    ...active(script).map((html): Named => [html.slice(0, 40), html]),
  ];
}
