import { el } from '../dom.js';
import type { SandboxedMessage } from '../sandboxed/window-link.js';

/** A page that is there, until it goes. */
export interface LiveFrame {
  post(message: object): void;
}

/** Messages of a frame within a second; what sends more is ended, since it would keep the window busy. Whether it may take the keyboard. */
const pages = {
  'sandboxed.html': { className: 'sandboxed-output', maxMessages: 120, takesKeyboard: false },
  // Nothing runs in it but what is ours. A slider that is dragged says so at each frame of the screen, and so does each widget that is linked to it.
  'widgets.html': { className: 'sandboxed-output widgets-apart', maxMessages: 600, takesKeyboard: true },
} as const;

export interface SandboxedFrameOptions {
  /** The address of a page of ours. */
  page: keyof typeof pages;
  /** For screen readers. */
  label: string;
  /** The page can be told what to show: when it comes into sight, and again whenever it has been away. */
  onReady: (frame: LiveFrame) => void;
  /** What it says beside its height. */
  onMessage: (message: object, frame: LiveFrame) => void;
  /** It went out of sight, or away. */
  onEnd?: () => void;
}

/** Higher ones scroll within themselves. The frame may ask for what it wants. */
const maxHeightPx = 2000;
/** How often a frame may take the keyboard unasked; it is given back each time. */
const maxTaken = 3;
/** Frames that live at once; one that is out of sight goes, and begins anew when it is seen. */
const maxFrames = 24;

interface Place {
  readonly holder: HTMLElement;
  readonly options: SandboxedFrameOptions;
  frame: HTMLIFrameElement | undefined;
  live: LiveFrame | undefined;
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
 * served). Its height, and what `onMessage` makes of its messages, is all it can bring about here.
 */
export function sandboxedFrame(options: SandboxedFrameOptions): HTMLElement {
  const holder = el('div', { class: pages[options.page].className });
  places.set(holder, { holder, options, frame: undefined, live: undefined, isSeen: false, messages: 0, sinceMs: 0, taken: 0 });
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
  const { holder, options } = place;
  const names = { class: 'sandboxed-frame', title: options.label };
  place.frame = el('iframe', { ...names, sandbox: 'allow-scripts', allow: '', src: options.page });
  place.frame.height = holder.style.height === '' ? '60' : '100%';
  holder.replaceChildren(place.frame);
  living.add(place);
}

function end(place: Place, reason?: string): void {
  living.delete(place);
  place.frame?.remove();
  place.frame = undefined;
  if (place.live) place.options.onEnd?.();
  place.live = undefined;
  if (reason === undefined) return;
  sight.unobserve(place.holder);
  place.holder.style.height = '';
  place.holder.replaceChildren(el('div', { class: 'not-loaded' }, reason));
}

addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
  const place = [...living].find(({ frame }) => frame?.contentWindow === source && source !== null);
  if (!place || origin !== 'null') return;
  if (isFlood(place)) return end(place, 'This output was ended: it sent more messages than the window takes.');
  receive(place, data as Partial<SandboxedMessage> | null);
});
keepFocus();

function isFlood(place: Place): boolean {
  const now = performance.now();
  if (now - place.sinceMs > 1000) {
    place.sinceMs = now;
    place.messages = 0;
  }
  return ++place.messages > pages[place.options.page].maxMessages;
}

function receive(place: Place, message: Partial<SandboxedMessage> | null): void {
  const { frame, holder, options } = place;
  if (message?.type === 'unable') return end(place, 'This browser cannot keep scripts of outputs apart, so they do not run.');
  if (typeof message !== 'object' || message === null) return;
  if (message.type === 'ready' && frame && !place.live) {
    place.live = { post: (sent) => frame.contentWindow?.postMessage(sent, '*') };
    options.onReady(place.live);
  } else if (place.live && message.type !== 'height') options.onMessage(message, place.live);
  if (message.type !== 'height' || typeof message.height !== 'number' || !Number.isFinite(message.height)) return;
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
    if (place && pages[place.options.page].takesKeyboard) return;
    if (place && ++place.taken >= maxTaken) end(place, 'This output was ended: it took the keyboard from you.');
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    else (activeElement as HTMLElement).blur();
  };
  // A frame of another process has the focus only after the window has lost it.
  addEventListener('blur', () => setTimeout(check));
}
