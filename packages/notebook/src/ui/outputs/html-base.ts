let sheet: CSSStyleSheet | undefined;

/** How tables and text of outputs look where they say nothing of it. The variables come from the page, so themes follow. */
export function htmlBaseSheet(): CSSStyleSheet {
  if (sheet) return sheet;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: block; }
    * { max-width: none; }
    table { border-collapse: collapse; font-size: 0.8125rem; line-height: 1.45; font-variant-numeric: tabular-nums; margin: 0; border: 0; }
    th, td { padding: 0.3rem 0.75rem; text-align: right; vertical-align: top; border: 0; }
    thead th { font-weight: 600; box-shadow: inset 0 -1px var(--line-strong); white-space: nowrap; }
    thead { position: sticky; top: 0; z-index: 1; background: var(--ground); }
    tbody tr + tr > * { border-top: 1px solid var(--line); }
    tbody tr:hover > * { background-color: var(--well); }
    tbody th { font-weight: 500; color: var(--ink-soft); }
    caption { caption-side: top; text-align: left; padding: 0.25rem 0.75rem; color: var(--ink-soft); }
    a { color: var(--accent-ink); }
    img { max-width: 100%; height: auto; }
    pre, code { font-family: var(--mono); font-size: 0.8125rem; }
    pre { overflow-x: auto; margin: 0.25rem 0; }
    p { margin: 0.35rem 0; }
    .not-loaded { color: var(--ink-soft); font-style: italic; }
  `);
  return sheet;
}
