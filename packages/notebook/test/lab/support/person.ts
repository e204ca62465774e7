import type { Browser, Locator, Page } from 'playwright-core';
import { findChromium } from '../../../../../scripts/tests/installed-chromium.mjs';
import type { TestLab } from './jupyter.js';
import { kernelReady } from './kernel-ready.js';
import { until } from './patient-until.js';

export const hasBrowser = findChromium() !== undefined;
export const withoutBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';

const front = '.jp-NotebookPanel:not(.lm-mod-hidden)';

/** A person at a notebook in JupyterLab: real keys in the real page. */
export class Person {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  /** Lab itself is loaded once: it takes a busy machine half a minute. */
  static async open(browser: Browser, lab: TestLab): Promise<Person> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    page.setDefaultTimeout(90_000);
    // A slow machine is asked whether it wants to wait.
    const slow = page.locator('.jp-Dialog', { hasText: 'taking some time to load' });
    await page.addLocatorHandler(slow, () => slow.getByRole('button', { name: 'Continue waiting' }).click());
    await page.goto(lab.url(''));
    await page.waitForFunction('window.jupyterapp?.shell !== undefined');
    await page.evaluate('window.jupyterapp.restored');
    return new Person(page);
  }

  /** Opens a notebook, in front of the others. */
  async show(file: string): Promise<void> {
    await this.page.evaluate((path) => {
      const { commands } = (window as unknown as { jupyterapp: { commands: { execute(name: string, args: object): Promise<unknown> } } })
        .jupyterapp;
      return commands.execute('docmanager:open', { path, factory: 'Notebook' }).then(() => undefined);
    }, file);
    await this.cells.first().waitFor();
  }

  /** Closes the notebook in front; its kernel goes on. */
  async hide(): Promise<void> {
    await this.page.evaluate(() => {
      const { commands } = (window as unknown as { jupyterapp: { commands: { execute(name: string): Promise<unknown> } } }).jupyterapp;
      return commands.execute('application:close').then(() => undefined);
    });
  }

  get cells(): Locator {
    return this.page.locator(`${front} .jp-Notebook .jp-Cell`);
  }

  cell(index: number): Locator {
    return this.cells.nth(index);
  }

  /** The sources of all cells, as the page's own model has them. */
  async sources(): Promise<string[]> {
    return this.cells.evaluateAll((cells) =>
      cells.map((cell) => [...cell.querySelectorAll('.jp-InputArea-editor .cm-line')].map((line) => line.textContent).join('\n')),
    );
  }

  async type(index: number, text: string): Promise<void> {
    await this.cell(index).locator('.cm-content').click();
    await this.page.keyboard.press('Control+End');
    await this.page.keyboard.type(text);
  }

  async sees(text: string, timeoutMs = 200_000): Promise<void> {
    await this.page.locator(`${front} .jp-Notebook`, { hasText: text }).waitFor({ timeout: timeoutMs });
  }

  /** Its kernel is there and waits. */
  kernelReady(): Promise<void> {
    return kernelReady(this.page);
  }

  async runCell(index: number): Promise<void> {
    await this.cell(index).locator('.cm-content').click();
    await this.page.keyboard.press('Control+Enter');
  }

  async save(): Promise<void> {
    await this.page.keyboard.press('Control+s');
  }

  async hasCells(count: number): Promise<void> {
    await until(async () => (await this.cells.count()) === count);
  }

  close(): Promise<void> {
    return this.page.close();
  }
}
