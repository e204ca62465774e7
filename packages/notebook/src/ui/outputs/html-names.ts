/** What may stand in an output: things that show, and nothing that acts, loads, or catches what a person types. */
export const htmlTags: readonly string[] = words(`
  a abbr b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption figure font
  h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub summary sup table tbody td tfoot th
  thead time tr tt u ul var wbr`);

/** Landmarks would be taken for those of the page. They show as what they are without their meaning. */
export const plainBoxes: ReadonlySet<string> = new Set(words('address article aside footer header main nav section'));

export const voidTags: ReadonlySet<string> = new Set(words('br col hr img wbr'));

/** What stands in them is no text. */
export const rawTags: ReadonlySet<string> = new Set(
  words('style script textarea title xmp iframe noembed noframes noscript plaintext template'),
);

/** Left out with all that they hold. */
export const silentTags: ReadonlySet<string> = new Set(words('svg math audio video canvas object select datalist'));

/**
 * Of both kinds of output; `nb-style` is where a style attribute waits that is set through the object model. `nb-part`, of
 * texts only, names a part that the window itself makes (`markdown.ts`).
 */
const common = words(`
  align alt bgcolor border cellpadding cellspacing color colspan datetime dir face height href lang noshade nowrap open reversed rowspan
  rules scope size span src start summary title type valign value width nb-style`);

/** In a tree of its own an output keeps the names that its styles speak of; in the page, one could be taken for ours. */
export const attributesOf = { page: [...common, 'nb-part'], apart: [...common, 'class', 'id'] } as const;

/** Who opens one of these ends those that are still open, up to one of `within`. */
export const impliedEnds: { readonly [tag: string]: { readonly ends: readonly string[]; readonly within: readonly string[] } } = {
  a: { ends: ['a'], within: ['table'] },
  li: { ends: ['li'], within: ['ul', 'ol'] },
  dt: { ends: ['dt', 'dd'], within: ['dl'] },
  dd: { ends: ['dt', 'dd'], within: ['dl'] },
  td: { ends: ['td', 'th'], within: ['tr', 'table'] },
  th: { ends: ['td', 'th'], within: ['tr', 'table'] },
  tr: { ends: ['tr'], within: ['table'] },
  thead: { ends: ['thead', 'tbody', 'tfoot'], within: ['table'] },
  tbody: { ends: ['thead', 'tbody', 'tfoot', 'colgroup', 'caption'], within: ['table'] },
  tfoot: { ends: ['thead', 'tbody', 'tfoot'], within: ['table'] },
};

/** A paragraph ends where one of these begins. */
export const endsParagraph: ReadonlySet<string> = new Set(
  words('blockquote center dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre table ul'),
);

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
