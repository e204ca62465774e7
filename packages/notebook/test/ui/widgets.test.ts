// @module-tag deep
// @module-tag P-250

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import type { NotebookHost } from '../../src/host/notebook-host.js';
import { Stage } from './support/browser.js';
import { askKernel, clearCells, closeWidgetHost, frameOf, openWidgetHost, run, waitForValue } from './support/widgets.js';

const slow = { ...drivesBrowser, timeout: 120_000 };

describe('widgets of ipywidgets in the window', () => {
  beforeEach(({ skip }) => skip(!findChromium(), 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));
  const stage = new Stage();
  let host: NotebookHost;
  beforeAll(async () => {
    host = await openWidgetHost();
  }, 600_000);
  afterEach(async () => {
    await stage.clear();
    clearCells(host);
  });
  afterAll(async () => {
    await closeWidgetHost(host);
    await stage.close();
  });

  /** Runs a cell that shows a widget, and finds its page in a new window. */
  async function show(source: string) {
    const { cellId } = await run(host, source);
    const { page, faults } = await stage.window(host);
    return { cellId, page, faults, frame: await frameOf(page, cellId) };
  }

  it('a slider is moved by mouse, by keyboard and by Python', slow, async () => {
    const { frame, page, faults } = await show('slider = w.IntSlider(value=3, max=10, description="n")\nslider');
    const readout = frame.locator('.widget-readout');
    await expect.poll(() => readout.textContent()).toBe('3');
    const box = await frame.locator('.noUi-handle').boundingBox();
    if (!box) throw new Error('The slider has no handle.');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 5, { steps: 8 });
    await page.mouse.up();
    await waitForValue(host, 'slider.value', '10');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await waitForValue(host, 'slider.value', '8');
    await run(host, 'slider.value = 5');
    await expect.poll(() => readout.textContent()).toBe('5');
    expect(faults).toEqual([]);
  });

  it('a button prints into an Output widget; what has no place of its own, and an error, come below the widget', slow, async () => {
    const { frame, page, faults } = await show(`
button, stray, out = w.Button(description="Count"), w.Button(description="Stray"), w.Output()
clicks = 0
def count(_):
    global clicks
    clicks += 1
    with out:
        print("click", clicks)
def fail(_):
    print("stray text")
    raise ValueError("not today")
button.on_click(count)
stray.on_click(fail)
w.VBox([button, stray, out])`);
    await frame.getByRole('button', { name: 'Count' }).click();
    await frame.getByRole('button', { name: 'Count' }).click();
    await frame.getByText('click 1\nclick 2').waitFor();
    await waitForValue(host, 'clicks, "".join(o["text"] for o in out.outputs)', String.raw`(2, 'click 1\nclick 2\n')`);
    await frame.getByRole('button', { name: 'Stray' }).click();
    await page.locator('.outputs .stream-stdout', { hasText: 'stray text' }).waitFor();
    await page.locator('.outputs .error-output', { hasText: 'not today' }).waitFor();
    expect(await page.locator('.outputs', { hasText: 'click 1' }).count()).toBe(0);
    await run(host, 'out.clear_output()\nwith out:\n    print("anew")\n    display(w.Label("within"))');
    await frame.getByText('anew').waitFor();
    await frame.locator('.widget-label', { hasText: 'within' }).waitFor();
    expect(await frame.getByText('click 1').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('a callback that does not end is interrupted', slow, async () => {
    const { frame, page } = await show(`
def work(_):
    print("it begins")
    while True:
        time.sleep(0.01)
endless = w.Button(description="Work")
endless.on_click(work)
endless`);
    await frame.getByRole('button', { name: 'Work' }).click();
    await page.locator('.stream-stdout', { hasText: 'it begins' }).waitFor();
    await host.session.interrupt({ by: { kind: 'person', name: 'a test' } });
    // ipykernel says nothing of it, and takes the next cell.
    await waitForValue(host, '6 * 7', '42');
    await frame.getByRole('button', { name: 'Work' }).click();
    await expect.poll(() => page.locator('.stream-stdout', { hasText: /it begins\s+it begins/ }).count()).toBe(1);
    await host.session.interrupt({ by: { kind: 'person', name: 'a test' } });
    await waitForValue(host, '6 * 7', '42');
  });

  it('interact() calls its function with what several controls say', slow, async () => {
    const { frame, page, faults } = await show(`
@w.interact(n=(0, 10), kind=["red", "blue"], on=False, name="Ada")
def tell(n=2, kind="red", on=False, name="Ada"):
    print(f"{n} {kind} {on} {name}")
    return {"n": n}`);
    await frame.getByText('2 red False Ada').waitFor();
    await frame.locator('.noUi-handle').click();
    await page.keyboard.press('ArrowRight');
    await frame.getByText('3 red False Ada').waitFor();
    await frame.locator('select').selectOption('blue');
    await frame.getByRole('checkbox').check();
    await frame.locator('input[type="text"]').fill('Grace');
    await frame.getByText('3 blue True Grace').waitFor();
    await frame.getByText("{'n': 3}").waitFor();
    expect(await frame.locator('.output-widget').innerText()).not.toContain('Ada');
    expect(faults).toEqual([]);
  });

  it('boxes, tabs and accordions hold the usual controls', slow, async () => {
    const { frame, page, faults } = await show(`
pixel = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0f01f00050001ffa5b9d6c50000000049454e44ae426082")
drop, check, text = w.Dropdown(options=["a", "b"]), w.Checkbox(description="yes"), w.Text()
date, label, html = w.DatePicker(), w.Label("a label"), w.HTML("<b>bold</b>")
image, bar = w.Image(value=pixel, format="png", width=40), w.IntProgress(value=4, max=10)
tab = w.Tab([w.HBox([drop, check]), w.VBox([text, date])], titles=("First", "Second"))
accordion = w.Accordion([label, html], titles=("One", "Two"))
w.VBox([tab, accordion, w.HBox([image, bar])])`);
    await frame.locator('select').click();
    await frame.locator('select').selectOption('b');
    await frame.getByRole('checkbox').check();
    await waitForValue(host, 'drop.value, check.value', "('b', True)");
    expect(await frame.locator('input[type="text"]').isVisible()).toBe(false);
    await frame.getByText('Second').click();
    await frame.locator('input[type="text"]').waitFor();
    await waitForValue(host, 'tab.selected_index', '1');
    await frame.locator('input[type="text"]').fill('words');
    await frame.locator('input[type="date"]').fill('2026-11-23');
    await waitForValue(host, 'text.value, str(date.value)', "('words', '2026-11-23')");
    await frame.getByText('Two', { exact: true }).click();
    await frame.locator('b', { hasText: 'bold' }).waitFor();
    expect(await frame.locator('img').evaluate((img: HTMLImageElement) => [img.complete, img.naturalWidth])).toEqual([true, 1]);
    expect(await frame.locator('.progress-bar').evaluate((bar: HTMLElement) => bar.style.width)).toBe('40%');
    await run(host, 'image.value = pixel[:40]\nlabel.value = "another"\naccordion.selected_index = 0\nbar.value = 7');
    await frame.getByText('another').waitFor();
    await expect.poll(() => frame.locator('.progress-bar').evaluate((bar: HTMLElement) => bar.style.width)).toBe('70%');
    // A broken picture is one that was really changed.
    await expect.poll(() => frame.locator('img').evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(faults.filter((fault) => !/blob:/.test(fault))).toEqual([]);
  });

  it('files are uploaded, colours chosen, and a player plays', slow, async () => {
    const { frame, page, faults } = await show(`
upload, colour, play, shown = w.FileUpload(multiple=True), w.ColorPicker(value="#ff0000"), w.Play(max=1000, interval=20), w.IntProgress(max=1000)
link = w.jslink((play, "value"), (shown, "value"))
w.VBox([upload, colour, play, shown])`);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), frame.getByRole('button', { name: 'Upload' }).click()]);
    await chooser.setFiles({ name: 'some.bin', mimeType: 'application/octet-stream', buffer: bytes });
    await waitForValue(
      host,
      'upload.value[0].name, bytes(upload.value[0].content) == bytes(n % 256 for n in range(300000))',
      "('some.bin', True)",
    );
    await frame.locator('input[type="color"]').fill('#00ff00');
    await waitForValue(host, 'colour.value', "'#00ff00'");
    await frame.locator('.widget-play button').first().click();
    await waitForValue(host, 'play.value > 3 and shown.value > 3', 'True');
    expect(faults).toEqual([]);
  });

  it('a bar moves while its cell runs, also in a window that was opened meanwhile', slow, async () => {
    const { page, faults } = await stage.window(host);
    const source = `bar = w.IntProgress(max=100000, description="work")
display(bar)
open_end = True
while open_end and bar.value < 100000:
    bar.value += 1
    time.sleep(0.001)`;
    const running = run(host, source).catch((error: Error) => error.message);
    await page.locator('iframe.sandboxed-frame').waitFor();
    const cellId = host.session.document.cells.at(-1)?.id ?? '';
    const width = async (frame: Awaited<ReturnType<typeof frameOf>>) =>
      Number.parseFloat(await frame.locator('.progress-bar').evaluate((bar: HTMLElement) => bar.style.width));
    for (const window of [page, (await stage.window(host)).page]) {
      const frame = await frameOf(window, cellId);
      const before = await width(frame);
      await expect.poll(() => width(frame)).toBeGreaterThan(before);
    }
    expect(host.session.running?.cellId).toBe(cellId);
    await host.session.interrupt({ by: { kind: 'person', name: 'a test' } });
    expect(await running).toMatch(/KeyboardInterrupt|IntProgress/);
    expect(faults).toEqual([]);
  });

  it('views of one model are equal, in two cells and in two windows, and jslink joins two models without Python', slow, async () => {
    const first = await run(host, 'one, two = w.IntSlider(max=10), w.IntText()\nlink = w.jslink((one, "value"), (two, "value"))\none');
    const second = await run(host, 'w.HBox([one, two])');
    const third = await run(host, 'two');
    const [left, right] = [await stage.window(host), await stage.window(host)];
    const frames = await Promise.all([left, right].flatMap(({ page }) => [first, second].map(({ cellId }) => frameOf(page, cellId))));
    const fields = await Promise.all([left, right].map(({ page }) => frameOf(page, third.cellId)));
    const shown = async () => [
      ...(await Promise.all(frames.map((frame) => frame.locator('.widget-readout').textContent()))),
      ...(await Promise.all(fields.map((frame) => frame.locator('input').inputValue()))),
    ];
    await frames[0]?.locator('.noUi-handle').click();
    await left.page.keyboard.press('ArrowRight');
    await left.page.keyboard.press('ArrowRight');
    await expect.poll(shown).toEqual(['2', '2', '2', '2', '2', '2']);
    await waitForValue(host, 'one.value, two.value', '(2, 2)');
    await fields[1]?.locator('input').click();
    await right.page.keyboard.press('ArrowUp');
    await expect.poll(shown).toEqual(['3', '3', '3', '3', '3', '3']);
    await waitForValue(host, 'one.value, two.value', '(3, 3)');
    // A link that is made later works in pages that are open.
    const late = await run(host, 'three = w.IntText()\nw.jsdlink((one, "value"), (three, "value"))\nthree');
    const frame = await frameOf(left.page, late.cellId);
    await frames[0]?.locator('.noUi-handle').click();
    await left.page.keyboard.press('ArrowRight');
    await expect.poll(() => frame.locator('input').inputValue()).toBe('4');
    await waitForValue(host, 'three.value', '4');
    expect([...left.faults, ...right.faults]).toEqual([]);
  });

  it('a page that nobody has touched shows what Python does, and tells the kernel nothing', slow, async () => {
    const { cellId } = await run(host, 'a, b = w.IntText(), w.IntText()\nlink = w.jslink((a, "value"), (b, "value"))\nw.HBox([a, b])');
    const { page } = await stage.window(host);
    await page.locator('.sandboxed-output[style*="height"] iframe').waitFor();
    // Whatever a test evaluates within the page counts as a person's touch: only pictures are taken of it.
    const devtools = await page.context().newCDPSession(page);
    const box = await page.locator('iframe').boundingBox();
    if (!box) throw new Error('The page of the widget is not seen.');
    const picture = async () => (await devtools.send('Page.captureScreenshot', { format: 'png', clip: { ...box, scale: 1 } })).data;
    const before = await picture();
    await run(host, 'a.value = 55555');
    await expect.poll(picture).not.toBe(before);
    const frame = await frameOf(page, cellId);
    const values = () => frame.locator('input').evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
    await expect.poll(values).toEqual(['55555', '55555']);
    expect(await askKernel(host, 'a.value, b.value')).toBe('(55555, 0)');
    await frame.locator('input').first().click();
    await page.keyboard.press('ArrowUp');
    await waitForValue(host, 'a.value, b.value', '(55556, 55556)');
  });
});
