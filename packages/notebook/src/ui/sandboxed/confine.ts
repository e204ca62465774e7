import { isForbiddenName, withoutForbiddenTags } from './forbidden-names.js';

interface Realm {
  trustedTypes?: { createPolicy(name: string, rules: { [rule: string]: (text: string, type: string, sink: string) => string }): unknown };
}

const { apply, deleteProperty, get, getOwnPropertyDescriptor } = Reflect;
const { defineProperty } = Object;
const text = String;

/**
 * Closes what the policy (CSP) of a sandboxed page leaves open in today's browsers: WebRTC, pages within this one, in which nothing of ours is
 * in force, and elements that send the page elsewhere. It runs before anything of the output does, and relies on nothing that the output could change. False: this browser
 * lacks what it takes, and nothing of the output may run. `toScriptUrl` says where a script is loaded from in place of the address that the page names:
 * an address that the policy refuses stays refused.
 */
export function confine(toScriptUrl: (url: string) => string = (url) => url): boolean {
  const { trustedTypes } = globalThis as Realm;
  if (!trustedTypes) return false;
  // Every string that becomes markup passes here, from now on and for good: the policy allows no other.
  trustedTypes.createPolicy('default', {
    createHTML: (html, _, sink) => (sink === 'HTMLIFrameElement srcdoc' ? '' : withoutForbiddenTags(html)),
    createScript: (script) => script,
    createScriptURL: toScriptUrl,
  });
  guardCreation();
  removeWays();
  return true;
}

/** Functions that make an element by its name. */
function guardCreation(): void {
  const guard = (owner: object, method: string, nameAt: number) => {
    const original = get(owner, method) as (...args: unknown[]) => unknown;
    replace(owner, method, function (this: unknown, ...args: unknown[]) {
      // Read once: an object could say something else the second time.
      const name = args[nameAt] === null ? null : text(args[nameAt]);
      args[nameAt] = name !== null && isForbiddenName(name) ? 'div' : name;
      return apply(original, this, args);
    });
  };
  guard(Document.prototype, 'createElement', 0);
  guard(Document.prototype, 'createElementNS', 1);
  guard(DOMImplementation.prototype, 'createDocument', 1);
  // A kind of element of one's own, but none that is a kind of a known one.
  const { define } = CustomElementRegistry.prototype;
  replace(CustomElementRegistry.prototype, 'define', function (this: unknown, name: unknown, kind: unknown) {
    return apply(define, this, [name, kind]);
  });
  // What is written in pieces is no markup until they come together.
  for (const method of ['write', 'writeln', 'open']) replace(Document.prototype, method, () => undefined);
}

function replace(owner: object, method: string, value: (...args: unknown[]) => unknown): void {
  defineProperty(owner, method, { value, writable: false, configurable: false, enumerable: true });
}

/** What no chart needs: connections, and markup that passes no policy. */
function removeWays(): void {
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'XSLTProcessor', 'Sanitizer'])
    deleteProperty(globalThis, name);
  for (const owner of [Element.prototype, ShadowRoot.prototype, Document])
    for (const name of Object.getOwnPropertyNames(owner))
      if (
        /html/i.test(name) &&
        !/^(?:inner|outer)HTML$|^insertAdjacentHTML$|Unsafe$/.test(name) &&
        typeof fieldOf(owner, name) === 'function'
      )
        deleteProperty(owner, name);
  for (const name of ['streamHTMLUnsafe', 'streamAppendHTMLUnsafe']) deleteProperty(Element.prototype, name);
}

function fieldOf(owner: object, name: string): unknown {
  return getOwnPropertyDescriptor(owner, name)?.value;
}
