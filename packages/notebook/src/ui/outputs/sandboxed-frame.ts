import { el } from '../dom.js';
import type { SandboxedMessage, ShowMessage } from '../sandboxed/show-pages.js';

export interface SandboxedFrameOptions {
  /** What to show, one after the other; asked for when the frame comes into sight. */
  pages: () => readonly string[];
  /** For screen readers. */
  label: string;
}

/** Higher ones scroll within themselves. The frame may ask for what it wants. */
const maxHeightPx = 2000;
/** Messages of one frame within a second. What sends more is ended: it would keep the window busy. */
const maxMessages = 120;
/** How often a frame may take the keyboard unasked; it is given back each time. */
const maxTaken = 3;
/** Frames that live at once; one that is out of sight goes, and begins anew when it is seen. */
const maxFrames = 24;

interface Place {
  readonly holder: HTMLElement;
  readonly options: SandboxedFrameOptions;
  frame: HTMLIFrameElement | undefined;
  isSeen: boolean;
  messages: number;
  sinceMs: number;
  /** How often it took the keyboard. */
  taken: number;
}

const places = new WeakMap<Element, Place>();
/** Those with a frame, the one that began first in front. */
const living = new Set<Place>();
const sight = new IntersectionObserver((entries) => entries.forEach(follow), { rootMargin: '300px' });

/**
 * A page of its own that cannot reach anything: no network, no storage, nothing of this window (`sandboxed/`, and the policy with which it is
 * served). What it sends is its height, and that is all it can bring about here.
 */
export function sandboxedFrame(options: SandboxedFrameOptions): HTMLElement {
  const holder = el('div', { class: 'sandboxed-output' });
  places.set(holder, { holder, options, frame: undefined, isSeen: false, messages: 0, sinceMs: 0, taken: 0 });
  sight.observe(holder);
  return holder;
}

function follow({ target, isIntersecting }: IntersectionObserverEntry): void {
  const place = places.get(target);
  if (!place) return;
  place.isSeen = isIntersecting;
  if (!target.isConnected) return end(place);
  if (!isIntersecting || place.frame) return;
  begin(place);
  for (const other of living) {
    if (living.size <= maxFrames) break;
    if (!other.isSeen) end(other);
  }
}

function begin(place: Place): void {
  listen();
  const { holder, options } = place;
  place.frame = el('iframe', {
    class: 'sandboxed-frame',
    sandbox: 'allow-scripts',
    src: 'sandboxed.html',
    title: options.label,
    allow: '',
  });
  place.frame.height = holder.style.height === '' ? '60' : '100%';
  holder.replaceChildren(place.frame);
  living.add(place);
}

function end(place: Place, reason?: string): void {
  living.delete(place);
  place.frame?.remove();
  place.frame = undefined;
  if (reason === undefined) return;
  sight.unobserve(place.holder);
  place.holder.style.height = '';
  place.holder.replaceChildren(el('div', { class: 'not-loaded' }, reason));
}

let isListening = false;

function listen(): void {
  if (isListening) return;
  isListening = true;
  addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
    const place = [...living].find(({ frame }) => frame?.contentWindow === source && source !== null);
    if (!place || origin !== 'null') return;
    if (isFlood(place)) return end(place, 'This output was ended: it sent more messages than the window takes.');
    receive(place, data as Partial<SandboxedMessage> | null);
  });
  keepFocus();
}

function isFlood(place: Place): boolean {
  const now = performance.now();
  if (now - place.sinceMs > 1000) {
    place.sinceMs = now;
    place.messages = 0;
  }
  return ++place.messages > maxMessages;
}

function receive(place: Place, message: Partial<SandboxedMessage> | null): void {
  const { frame, holder, options } = place;
  if (message?.type === 'unable') return end(place, 'This browser cannot keep scripts of outputs apart, so they do not run.');
  if (message?.type === 'ready') frame?.contentWindow?.postMessage({ type: 'show', html: options.pages() } satisfies ShowMessage, '*');
  if (message?.type !== 'height' || typeof message.height !== 'number' || !Number.isFinite(message.height)) return;
  holder.style.height = `${Math.min(maxHeightPx, Math.max(0, Math.ceil(message.height)))}px`;
  if (frame) frame.height = '100%';
}

/** A frame gets the keyboard by a click or the Tab key, and not by taking it. */
function keepFocus(): void {
  let isWanted = false;
  let before: Element | null = null;
  addEventListener('keydown', ({ key }) => {
    isWanted = key === 'Tab';
  });
  addEventListener('pointerdown', () => {
    isWanted = false;
  });
  addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement && !target.matches('.sandboxed-frame')) before = target;
  });
  const check = () => {
    const { activeElement } = document;
    if (!activeElement?.matches('.sandboxed-frame') || isWanted || activeElement.matches(':hover')) return;
    const place = [...living].find(({ frame }) => frame === activeElement);
    if (place && ++place.taken >= maxTaken) end(place, 'This output was ended: it took the keyboard from you.');
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    else (activeElement as HTMLElement).blur();
  };
  // A frame of another process has the focus only after the window has lost it.
  addEventListener('blur', () => setTimeout(check));
}
