import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { parseObject } from './lease-entries.js';
import { TextSigner } from './text-signer.js';

/** What a hub has for itself: nothing of it is claimed, so nothing of it stands in the store. */
export interface HubInventory {
  servers: InventoryItem[];
  notebooks: InventoryItem[];
  /** What there holds more of it and does not answer, for people. */
  silent: string[];
}

/** As it comes over the bus. */
export interface ToldInventory extends HubInventory {
  /** How many more there are than were told. */
  more: { servers: number; notebooks: number };
}

export interface InventoryItem {
  name: string;
  about: JsonObject;
}

/** Of each kind. The answer is one message of the bus, and for people. */
const maxItems = 100;
const maxSilent = 10;
/** Of a name, and of each text that is said of it. */
const maxCharacters = 160;

/** Where hubs are asked what they have. */
export const inventoryQuestions = 'inventory';

/** Where who asked by this mark hears the answers. */
export function inventoryAnswers(asker: string): string {
  return `${inventoryQuestions}.${asker}`;
}

export interface InventoryQuestion {
  /** The mark of who asks. */
  asker: string;
  /** Ids of the hubs that are to answer: of their lives, so that one which was started later is not asked. */
  hubs: readonly string[];
  /** By the clock of who asks: it tells older questions from newer ones. */
  at: number;
}

/** Signs what is asked and answered: who only has access to the bus can make neither. An answer is one to this asker's question, by this hub. */
export class InventorySigner {
  readonly #signer: TextSigner;

  constructor(key: Buffer, cluster: string) {
    this.#signer = new TextSigner(key, `inventory ${cluster}`);
  }

  printQuestion({ asker, hubs, at }: InventoryQuestion): Buffer {
    return this.#sign('question', JSON.stringify({ asker, hubs, at }));
  }

  /** Undefined: nobody of ours asks. */
  parseQuestion(payload: Uint8Array): InventoryQuestion | undefined {
    const { asker, hubs, at } = this.#open('question', payload) ?? {};
    if (typeof asker !== 'string' || !/^[\w-]{1,64}$/.test(asker) || typeof at !== 'number') return undefined;
    return { asker, hubs: (Array.isArray(hubs) ? hubs : []).map(String), at };
  }

  printAnswer(asker: string, hub: string, inventory: HubInventory): Buffer {
    return this.#sign(`answer ${asker}`, JSON.stringify({ hub, ...toBounded(inventory) }));
  }

  /** Undefined: it is no answer to this question by a hub of ours. Members that a newer hub has added are left out. */
  parseAnswer(asker: string, payload: Uint8Array): { hub: string; inventory: ToldInventory } | undefined {
    const { hub, servers, notebooks, more, silent } = this.#open(`answer ${asker}`, payload) ?? {};
    if (typeof hub !== 'string') return undefined;
    const counts = isJsonObject(more) ? more : {};
    const inventory = {
      servers: parseItems(servers),
      notebooks: parseItems(notebooks),
      more: { servers: Number(counts.servers) || 0, notebooks: Number(counts.notebooks) || 0 },
      silent: (Array.isArray(silent) ? silent : []).map(String),
    };
    return { hub, inventory };
  }

  #sign(what: string, text: string): Buffer {
    return Buffer.from(this.#signer.sign(what, text));
  }

  #open(what: string, payload: Uint8Array): JsonObject | undefined {
    const text = this.#signer.open(what, Buffer.from(payload).toString());
    return text === undefined ? undefined : parseObject(text);
  }
}

function toBounded({ servers, notebooks, silent }: HubInventory): ToldInventory {
  const over = (items: readonly unknown[]): number => Math.max(0, items.length - maxItems);
  return {
    servers: servers.slice(0, maxItems).map(toShort),
    notebooks: notebooks.slice(0, maxItems).map(toShort),
    more: { servers: over(servers), notebooks: over(notebooks) },
    silent: silent.slice(0, maxSilent).map((why) => why.slice(0, maxCharacters)),
  };
}

function toShort({ name, about }: InventoryItem): InventoryItem {
  const short = Object.entries(about).map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, maxCharacters) : value]);
  return { name: name.slice(0, maxCharacters), about: Object.fromEntries(short) };
}

function parseItems(value: unknown): InventoryItem[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isJsonObject)
    .flatMap(({ name, about }) => (typeof name === 'string' ? [{ name, about: isJsonObject(about) ? about : {} }] : []));
}
