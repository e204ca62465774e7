import L from 'leaflet';

/** Stands for a control of a plugin that is not here. */
const Absent = L.Control.extend({ onAdd: () => document.createElement('div') });

/**
 * Buttons and boxes of plugins (the whole screen, a smaller map, the place of the pointer) are left out: without the network, or within a frame, most
 * do nothing, and a page that asks for one draws the rest.
 */
export function leaveOutOthers(): void {
  const all: { Control: object; control: object } = L;
  all.Control = withAny(L.Control, Absent);
  all.control = withAny(L.control, (...options: never[]) => new Absent(...options));
}

function withAny<T extends object>(owner: T, absent: unknown): T {
  return new Proxy(owner, { get: (target, name) => (name in target ? Reflect.get(target, name) : absent) });
}
