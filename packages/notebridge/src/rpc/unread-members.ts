import { inspect } from 'node:util';

/** Stands in for a member until it is read. */
export interface Unread {
  /** Gives the member, each time. */
  read(): unknown;
}

interface Holder {
  readonly [unreadMembers]?: Map<string, Unread>;
}

/** Hidden, so that no copy of a holder takes them along; a property, so that a proxy of it finds them. */
const unreadMembers = Symbol('unread members');

/** Makes a member that is read, listed, written and removed like any other. */
export function setUnread(holder: Holder, key: string, unread: Unread): void {
  const unreads = Object.hasOwn(holder, unreadMembers) ? holder[unreadMembers] : hold(holder);
  unreads?.set(key, unread);
  Object.defineProperty(holder, key, accessorOf(key));
}

/** What still stands in the place of a member; undefined for any other member. */
export function unreadOf(holder: Holder, key: string): Unread | undefined {
  // Cheap for the many objects that hold none.
  if (!(unreadMembers in holder)) return undefined;
  const get = Object.getOwnPropertyDescriptor(holder, key)?.get;
  return get !== undefined && getters.has(get) ? holder[unreadMembers]?.get(key) : undefined;
}

function hold(holder: Holder): Map<string, Unread> {
  const unreads = new Map<string, Unread>();
  Object.defineProperty(holder, unreadMembers, { value: unreads });
  // Who prints the holder for a person sees its members.
  Object.defineProperty(holder, inspect.custom, seesMembers);
  return unreads;
}

const seesMembers: PropertyDescriptor = {
  value(this: object) {
    return { ...this };
  },
  configurable: true,
};

/** Names of members come from outside. */
const maxAccessors = 256;
const accessors = new Map<string, PropertyDescriptor>();
const getters = new WeakSet<() => unknown>();

/** One accessor for all members of a name: the engine keeps each until its next full collection, and with it all that it holds. */
function accessorOf(key: string): PropertyDescriptor {
  const known = accessors.get(key);
  if (known !== undefined) return known;
  const accessor = createAccessor(key);
  getters.add(accessor.get);
  if (accessors.size < maxAccessors) accessors.set(key, accessor);
  return accessor;
}

function createAccessor(key: string) {
  return {
    get(this: Holder): unknown {
      return this[unreadMembers]?.get(key)?.read();
    },
    set(this: object, value: unknown): void {
      Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  };
}
