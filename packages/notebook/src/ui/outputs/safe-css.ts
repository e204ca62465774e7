/**
 * CSS of outputs. It may colour and align what stands in the output, load nothing, and leave its box in no way: the box itself is
 * contained by the page (`contain` on `.html-output`).
 */

/** What could load something, in the form in which browsers print it. A backslash could spell any of it. */
const loads = /url\(|image-set\(|image\(|src\(|\\|@import/i;
const leavesItsPlace = /^(position|z-index|animation.*|transition.*|content)$/;

/** Sets what is harmless of a style attribute. */
export function safeStyle(element: HTMLElement, css: string): void {
  const probe = document.createElement('span').style;
  probe.cssText = css;
  for (const name of probe) {
    const value = probe.getPropertyValue(name);
    if (name.startsWith('--') || leavesItsPlace.test(name) || loads.test(value)) continue;
    element.style.setProperty(name, value, probe.getPropertyPriority(name));
  }
}

/** A style sheet for the shadow tree of one output, such as pandas' Styler makes. Made by the object model, so no nonce is needed. */
export function safeRules(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  for (let at = sheet.cssRules.length - 1; at >= 0; at--) if (!isHarmless(sheet.cssRules[at])) sheet.deleteRule(at);
  return sheet;
}

function isHarmless(rule: CSSRule | undefined): boolean {
  return (
    rule instanceof CSSStyleRule &&
    !loads.test(rule.cssText) &&
    ![...rule.style].some((name) => name.startsWith('--') || leavesItsPlace.test(name))
  );
}
