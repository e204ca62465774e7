import L from 'leaflet';
import iconUrl from 'leaflet/dist/images/marker-icon.png';
import icon2xUrl from 'leaflet/dist/images/marker-icon-2x.png';
import shadowUrl from 'leaflet/dist/images/marker-shadow.png';
import 'leaflet.heat';
import 'leaflet.markercluster';
import { awesomeMarkers } from './map-pins.js';

declare const leafletStyles: string;

const style = document.createElement('style');
style.textContent = leafletStyles;
document.head.append(style);

// The images of a marker are looked for beside the style sheet, which has no address here.
Reflect.deleteProperty(L.Icon.Default.prototype, '_getIconUrl');
L.Icon.Default.mergeOptions({ iconUrl, iconRetinaUrl: icon2xUrl, shadowUrl });

// Tiles come from the network, so the ground stays blank.
L.TileLayer.include({
  createTile(_place: unknown, done: (error: null, tile: HTMLElement) => void): HTMLElement {
    const tile = document.createElement('div');
    queueMicrotask(() => done(null, tile));
    return tile;
  },
});

/** Stands for a control of a plugin that is not here. */
const Absent = L.Control.extend({ onAdd: () => document.createElement('div') });
const withAny = <T extends object>(owner: T, absent: unknown): T =>
  new Proxy(owner, { get: (target, name) => (name in target ? Reflect.get(target, name) : absent) });

// Buttons and boxes of plugins (the whole screen, a smaller map, the place of the pointer) are left out: without the network, or within a frame, most
// do nothing, and a page that asks for one draws the rest.
const all: { Control: object; control: object } = L;
all.Control = withAny(L.Control, Absent);
all.control = withAny(L.control, (...options: never[]) => new Absent(...options));

/** Pages of folium make what a popup holds with jQuery, and use no more of it. */
const elementsOf = (html: string): Element[] => {
  const template = document.createElement('template');
  template.innerHTML = html;
  return [...template.content.children];
};

Object.assign(globalThis, { L: Object.assign(L, { AwesomeMarkers: awesomeMarkers }), $: elementsOf, jQuery: elementsOf });
