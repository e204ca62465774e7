// @module-tag P-108

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { Output } from '../../src/model/output.js';
import { Stage } from './support/browser.js';

const script = 'alert(1);window.pwned=true;fetch("http://evil.example/x")';
const evilHtml = `
  <p id="seen">harmless text</p>
  <script>${script}</script><img src=x onerror="${script.replaceAll('"', "'")}"><svg onload='${script}'><animate onbegin='${script}'/></svg>
  <iframe src="javascript:${script}"></iframe><iframe srcdoc="<script>parent.pwned=true</script>"></iframe>
  <object data="http://evil.example/o"></object><embed src="http://evil.example/e"><link rel="stylesheet" href="http://evil.example/c.css">
  <meta http-equiv="refresh" content="0;url=http://evil.example/m"><base href="http://evil.example/">
  <form action="http://evil.example/f"><input name="q" autofocus onfocus="${script.replaceAll('"', "'")}"><button>Send</button></form>
  <a href="javascript:${script}">click</a><a id="good" href="https://example.org/">good</a>
  <img src="http://evil.example/pixel.png" alt="a pixel"><video src="http://evil.example/v" autoplay></video>
  <style>@import url(http://evil.example/i.css); #seen { background: url(http://evil.example/bg.png) } :host { position: fixed !important; inset: 0 !important; z-index: 99999 }</style>
  <div style="position:fixed;inset:0;z-index:99999;background:url(http://evil.example/style.png)" id="cover">cover</div>
  <math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${script.replaceAll('"', "'")}&gt;">
`;
const evilSvg = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload='${script}'><script>${script}</script><image href="http://evil.example/s.png"/><foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload='${script}'/></foreignObject><rect width="40" height="40"/></svg>`;

const rich = (data: { [type: string]: unknown }): Output => ({ output_type: 'display_data', data, metadata: {} });

describe('hostile content', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  afterEach(() => stage.clear());
  afterAll(() => stage.close());

  it('is inert: no dialog, no request, no script, nothing over the page', { ...drivesBrowser, tags: ['P-108'] }, async () => {
    const host = await stage.host({
      agents: [{ id: 'x', name: `<img src=x onerror='${script}'>` }],
      cells: [
        { source: `'</script><script>${script}</script>'`, outputs: [rich({ 'text/html': evilHtml }), rich({ 'image/svg+xml': evilSvg })] },
        { type: 'markdown', source: `# Hello\n\n${evilHtml}\n\n[link](javascript:alert(1)) ![pixel](http://evil.example/md.png)` },
        { source: '', outputs: [rich({ 'text/markdown': `**bold** <img src=x onerror='${script}'>`, 'text/plain': 'plain' })] },
        {
          source: '',
          outputs: [
            rich({ 'application/javascript': script }),
            rich({ 'text/html': `<script>${script}</script>`, 'text/plain': 'the plain form' }),
          ],
        },
        {
          source: '',
          outputs: [
            {
              output_type: 'stream',
              name: 'stdout',
              text: `<script>${script}</script>\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007`,
            },
          ],
        },
        {
          source: '',
          outputs: [
            {
              output_type: 'error',
              ename: '<b>E',
              evalue: `<img src=x onerror='${script}'>`,
              traceback: [`\u001b[31m<img src=x onerror='${script}'>`],
            },
          ],
        },
        { source: '', outputs: [rich({ 'image/png': '"><img src=x onerror=alert(1)>' })] },
      ],
    });
    const { page, faults } = await stage.window(host);
    await page.locator('.prose h1').waitFor();
    await page.locator('.html-output #seen').waitFor();
    await page.getByText('the plain form').waitFor();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.getByText('This image is damaged.').waitFor();
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    const live = await page.evaluate(() => {
      const roots = [document, ...[...document.querySelectorAll('.html-output > div')].flatMap((holder) => holder.shadowRoot ?? [])];
      const elements = roots.flatMap((root) => [
        ...root.querySelectorAll('#app *'),
        ...(root === document ? [] : root.querySelectorAll('*')),
      ]);
      return (
        elements
          // The fields of the window itself.
          .filter((element) => !element.matches('.find-text'))
          .filter(
            (element) =>
              /^(script|iframe|object|embed|link|meta|base|form|input|video|style)$/i.test(element.tagName) ||
              [...element.attributes].some(({ name, value }) => name.startsWith('on') || /^javascript:/i.test(value)),
          )
          .map((element) => element.outerHTML)
      );
    });
    expect(live).toEqual([]);
    const cover = await page
      .locator('.html-output')
      .first()
      .evaluate((box) => {
        const { left, top, right, bottom } = box.getBoundingClientRect();
        const outside = [
          [5, 5],
          [innerWidth - 5, innerHeight - 5],
        ].filter(([x = 0, y = 0]) => x < left || x > right || y < top || y > bottom);
        return outside.map(([x = 0, y = 0]) => box.contains(document.elementFromPoint(x, y)));
      });
    expect(cover).not.toContain(true);
    expect(await page.locator('.html-output #good').getAttribute('rel')).toContain('noopener');
    expect(host.fetched.filter((path) => !/^\/(app\.(js|css)|chunk-\w+\.js|markdown\.js|icon\.svg|enter)?$/.test(path))).toEqual([]);
    // What the policy refuses while foreign text is parsed, it reports in the console; nothing of it may have come further.
    expect(faults.filter((fault) => !/violates the following Content Security Policy|ERR_INVALID_URL/.test(fault))).toEqual([]);
  });

  it('keeps what styles of outputs may do: colours of a table', { ...drivesBrowser, tags: ['deep'] }, async () => {
    const html =
      '<style>#T_1 td { color: rgb(1, 2, 3) }</style><table id="T_1"><tr><td style="background-color: rgb(4, 5, 6)">1</td></tr></table>';
    const host = await stage.host({ cells: [{ source: '', outputs: [rich({ 'text/html': html })] }] });
    const { page, faults } = await stage.window(host);
    const cell = page.locator('.html-output td');
    expect(await cell.evaluate((td) => [getComputedStyle(td).color, getComputedStyle(td).backgroundColor])).toEqual([
      'rgb(1, 2, 3)',
      'rgb(4, 5, 6)',
    ]);
    expect(faults).toEqual([]);
  });
});
