type Named = readonly [name: string, text: string];

const repeat = (text: string, times: number) => text.repeat(times);
const numbered = (times: number, make: (at: number) => string) => Array.from({ length: times }, (_, at) => make(at)).join('');
const open = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="100">';
const svg = (inner: string) => `${open}${inner}</svg>`;
const rect = '<rect width="100" height="100" fill="red"/>';

/** Each level names the one before it ten times. */
function doubling(levels: number, level: (at: number) => string): string {
  return svg(`<defs>${numbered(levels, level)}</defs>${rect}`);
}

/** Drawings that are drawn for ever, act, load, or are none. */
export function hostileDrawings(script: string): readonly Named[] {
  const uses = (id: string) => repeat(`<use xlink:href="#${id}"/>`, 10);
  return [
    ['use of use', svg(`<g id="a0">${rect}</g>${numbered(9, (at) => `<g id="a${at + 1}">${uses(`a${at}`)}</g>`)}`)],
    [
      'use of use under encoded names',
      svg(`<g id="&#97;0">${rect}</g>${numbered(9, (at) => `<g id="&#97;${at + 1}">${repeat(`<use href="#%61${at}"/>`, 10)}</g>`)}`),
    ],
    [
      'symbols of symbols',
      svg(`<symbol id="s0">${rect}</symbol>${numbered(9, (at) => `<symbol id="s${at + 1}">${uses(`s${at}`)}</symbol>`)}<use href="#s9"/>`),
    ],
    [
      'patterns of patterns',
      doubling(
        9,
        (at) => `<pattern id="p${at}" width="1" height="1">${repeat(`<rect width="9" height="9" fill="url(#p${at - 1})"/>`, 10)}</pattern>`,
      ).replace('fill="red"', 'fill="url(#p8)"'),
    ],
    [
      'masks of masks',
      doubling(9, (at) => `<mask id="m${at}">${repeat(`<rect width="9" height="9" mask="url(#m${at - 1})"/>`, 10)}</mask>`).replace(
        'fill="red"',
        'mask="url(#m8)"',
      ),
    ],
    [
      'clips of clips',
      doubling(
        9,
        (at) => `<clipPath id="c${at}">${repeat(`<rect width="9" height="9" clip-path="url('#c${at - 1}')"/>`, 10)}</clipPath>`,
      ).replace('fill="red"', 'style="clip-path:url(#c8)"'),
    ],
    [
      'markers of markers',
      doubling(9, (at) => `<marker id="k${at}">${repeat(`<path d="M0 0h1v1" marker-mid="url(#k${at - 1})"/>`, 10)}</marker>`).replace(
        'fill="red"',
        'marker-start="url(#k8)"',
      ),
    ],
    [
      'in disguise',
      svg(
        `<g id="a0">${rect}</g>${numbered(8, (at) => `<g id="a${at + 1}">${repeat(`<rect width="9" height="9" fill="&#117;rl(#a${at})" mask="\\75rl(#a${at})"/>`, 10)}</g>`)}`,
      ),
    ],
    ['what names itself', svg('<g id="a"><use href="#a"/></g><use href="#b" id="c"/><use href="#c" id="b"/>')],
    ['a chain of 20,000', svg(numbered(20_000, (at) => `<use id="u${at}" href="#u${at + 1}"/>`))],
    [
      'entities of entities',
      `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">${numbered(9, (at) => `<!ENTITY a${at} "${repeat(`&a${at || ''};`, 10)}">`)}]>${svg('<text>&a8;</text>')}`,
    ],
    [
      'an entity from elsewhere',
      `<!DOCTYPE svg SYSTEM "http://evil.example/d.dtd" [<!ENTITY x SYSTEM "http://evil.example/x">]>${svg('<text y="20">&x;</text>')}`,
    ],
    ['100,000 groups', `${open}${repeat('<g>', 100_000)}`],
    ['30,000 shapes', svg(repeat('<circle cx="5" cy="5" r="9"/>', 30_000))],
    ['a path of 900,000 characters', svg(`<path fill="none" stroke="red" d="M0 0${repeat('L9 9L1 5', 110_000)}"/>`)],
    ['dashes too small to see', svg('<path stroke="red" stroke-dasharray="0.0001" d="M0 0H100000V100000"/>')],
    ['styles that nest', svg(`<style>${repeat('a{', 10_000)}</style>${rect}`)],
    ['selectors that nest', svg(`<style>${repeat(':is(', 10_000)}</style>${rect}`)],
    ['styles in CDATA', svg(`<style><![CDATA[${repeat('@media x{', 10_000)}]]></style>${rect}`)],
    ['a style that nests in an attribute', svg(`<rect style="width:${repeat('calc(', 300)}" width="9" height="9"/>`)],
    [
      'styles that look at everything',
      svg(`<style>${numbered(2000, (at) => `* * * :not(.a${at}){fill:red}`)}</style>${repeat('<g/>', 20_000)}`),
    ],
    [
      'a style from elsewhere',
      svg(`<style>@import url(http://evil.example/s.css);rect{fill:url(http://evil.example/f.svg#x);mask:url(#m)}</style>${rect}`),
    ],
    [
      'turbulence',
      svg(
        `<filter id="f"><feTurbulence baseFrequency="0.01" numOctaves="1000"/></filter><rect width="9999" height="9999" filter="url(#f)"/>`,
      ),
    ],
    [
      'morphology',
      svg(
        `<filter id="f">${repeat('<feMorphology operator="dilate" radius="500"/>', 50)}</filter><rect width="99" height="99" filter="url(#f)"/>`,
      ),
    ],
    [
      'a thousand blurs',
      svg(`<filter id="f">${repeat('<feGaussianBlur stdDeviation="999"/>', 1000)}</filter><rect width="99" height="99" filter="url(#f)"/>`),
    ],
    [
      'what moves',
      svg(repeat('<rect width="9" height="9"><animate attributeName="x" values="0;9" dur="1ms" repeatCount="indefinite"/></rect>', 3000)),
    ],
    [
      'what acts',
      svg(
        `<script>${script}</script><rect onload='${script}' onclick='${script}' width="9" height="9"/><a href="javascript:${script.replaceAll('"', '&quot;')}">${rect}</a><set attributeName="onload" to="alert(1)"/>`,
      ),
    ],
    [
      'what loads',
      svg(
        '<image href="http://evil.example/i.png" width="9" height="9"/><use href="http://evil.example/u.svg#x"/><feImage href="http://evil.example/f"/>',
      ),
    ],
    [
      'foreign content',
      svg(
        `<foreignObject width="99" height="99"><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="http://evil.example"></iframe><script>${script}</script></body></foreignObject>`,
      ),
    ],
    [
      'a drawing in a drawing',
      svg(`<image width="99" height="99" href="data:image/svg+xml,${encodeURIComponent(svg(repeat('<g>', 9999)))}"/>`),
    ],
    ['a lone surrogate', svg(`<text y="20">\ud800</text>${rect}`)],
    ['a lone surrogate in a name', svg(`<rect id="\udfff" width="9" height="9"/>`)],
    ['characters that XML does not know', svg(`<text y="20">\u0000\u0008\ufffe</text>${rect}`)],
    ['no drawing', 'this is no drawing'],
    ['an HTML page', '<html><body onload=alert(1)>x</body></html>'],
    ['a wild size', `<svg xmlns="http://www.w3.org/2000/svg" width="1e9" height="1e9" viewBox="0 0 1e-9 1e-9">${rect}</svg>`],
    ['a wild shape', `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="100000000">${rect}</svg>`],
    ['tags that never end', `${open}${repeat('<g ', 200_000)}`],
    ['attributes twice', svg('<rect width="9" width="10" height="9" height="8"/>')],
    ['text without end', svg(`<text>${repeat('word ', 180_000)}</text>`)],
  ];
}
