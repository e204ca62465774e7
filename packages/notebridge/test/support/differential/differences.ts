import { itemsOf, membersOf } from '../raw-json.js';
import type { DoorName, EraName } from './doors.js';
import type { TableMessage } from './messages.js';

/** One combination of door, era and kind of provider. */
export interface Cell {
  door: DoorName;
  era: EraName;
  kind: 'stdio' | 'http' | 'page';
  /** Of the provider. */
  name: string;
}

interface Pair {
  straight: string;
  crossed: string;
}

/** Something that a bridge changes, and why it must or may. */
export interface Difference {
  reason: string;
  concerns: (cell: Cell, message: TableMessage, pair: Pair) => boolean;
  /** Takes it out of both answers. */
  even: (pair: Pair, cell: Cell) => Pair;
  /** How often it was needed. */
  uses: number;
}

const isModern = ({ era }: Cell): boolean => era === 'modern';
const inBoth =
  (change: (text: string) => string) =>
  ({ straight, crossed }: Pair): Pair => ({ straight: change(straight), crossed: change(crossed) });

/** Marks that the modern era has in each result, and in the params of each request. */
const stamps = /"(resultType|cacheScope)":"(complete|private)",?|"ttlMs":0,?/g;
const marks = /"io\.modelcontextprotocol\/(protocolVersion|clientCapabilities|clientInfo|serverInfo)":("[^"]*"|\{[^{}]*\}),?/g;

function tidy(text: string): string {
  let tidied = text;
  for (let before = ''; before !== tidied; ) {
    before = tidied;
    tidied = tidied.replaceAll(',}', '}').replace(/"_meta":\{\},?/g, '');
  }
  return tidied;
}

export const differences: Difference[] = [
  {
    reason:
      'Each request of the modern era names who sends it, and each result who answers and how long it holds: of both we say it ourselves.',
    concerns: isModern,
    even: inBoth((text) => tidy(text.replace(stamps, '').replace(marks, ''))),
    uses: 0,
  },
  {
    reason: 'One list has the items of all providers, those of servers under names that begin with the name of the server.',
    concerns: (_, { method }, { crossed }) => method.endsWith('/list') && crossed.startsWith('{"result"'),
    even: ({ straight, crossed }, cell) => ({ straight, crossed: ownItems(crossed, cell) }),
    uses: 0,
  },
  {
    reason: 'A tool that is in no list is refused by us, with the same code: the name itself says which provider it would be.',
    concerns: (_, { name }) => name.startsWith('an unknown tool '),
    even: inBoth(codeOnly),
    uses: 0,
  },
  {
    reason: 'Cursors of one list for all providers are ours; one that is none is refused with the same code.',
    concerns: (_, { name }) => name.startsWith('a cursor of nobody '),
    even: inBoth(codeOnly),
    uses: 0,
  },
  {
    reason:
      'Structured content of the legacy era is an object: its clients refuse other content, which is told as a text and by the member "result".',
    concerns: ({ era }, { name }) => era === 'legacy' && name.startsWith('structured content '),
    even: ({ straight, crossed }) => ({ straight: asObject(straight), crossed }),
    uses: 0,
  },
];

function asObject(text: string): string {
  const value = membersOf(membersOf(text).get('result') ?? '{}').get('structuredContent') ?? 'null';
  if (value.startsWith('{')) return text;
  if (value === 'null') return '{"result":{"content":[]}}';
  return `{"result":{"content":[{"text":${JSON.stringify(value)},"type":"text"}],"structuredContent":{"result":${value}}}}`;
}

/** Of a merged list what this provider has, under its own names. */
function ownItems(text: string, { kind, name }: Cell): string {
  const [[key, items] = ['', '[]']] = membersOf(membersOf(text).get('result') ?? '{}');
  const isOwn = (item: string): boolean => {
    const { name: shown, uri, uriTemplate } = JSON.parse(item) as Record<string, string | undefined>;
    const uriShown = uri ?? uriTemplate;
    if (uriShown !== undefined) return uriShown.startsWith(`${name}:`);
    return kind === 'page' ? ['odd', 'second', 'third', 'ask'].includes(shown ?? '') : shown?.startsWith(`${name}__`) === true;
  };
  const own = itemsOf(items).filter(isOwn);
  return `{"result":{"${key}":[${own.join(',').replaceAll(`"name":"${name}__`, '"name":"')}]}}`;
}

function codeOnly(text: string): string {
  return `{"error":{"code":${membersOf(membersOf(text).get('error') ?? '{}').get('code')}}}`;
}
