type AttributeValue = string | number | boolean | undefined | ((event: never) => void);

export type Attributes = { readonly [name: string]: AttributeValue };

/**
 * An element with attributes, listeners (`onclick: …`) and children. Strings become text nodes, never markup: what an agent or
 * a file says cannot become an element by this way.
 */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string | undefined)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** With an explicit type: without it, a button submits a form. */
export function button(attributes: Attributes, ...children: readonly (Node | string | undefined)[]): HTMLButtonElement {
  return el('button', { type: 'button', ...attributes }, ...children);
}

/** One that is on or off: `aria-checked` says which. */
export function switchButton(attributes: Attributes, ...children: readonly Node[]): HTMLButtonElement {
  return button({ class: 'switch', role: 'switch', ...attributes }, el('span', { class: 'knob' }), ...children);
}

/** Sets or removes: `undefined` and `false` mean that the attribute is not there. */
export function setAttribute(element: Element, name: string, value: AttributeValue): void {
  if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
  else if (value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

/** Writes the text only where it differs, so that screen readers and selections are left in peace. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Text for screen readers only. */
export function hiddenText(text: string): HTMLSpanElement {
  return el('span', { class: 'visually-hidden' }, text);
}
