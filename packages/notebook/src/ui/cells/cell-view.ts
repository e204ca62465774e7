import type { Cell, CellType } from '../../model/cell.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import type { Run } from '../../session/run-queue.js';
import { button, el, setAttribute, setText } from '../dom.js';
import { icon } from '../icons.js';
import type { AskHost } from '../link/connection.js';
import { nameOf } from '../names.js';
import { cannotShow } from '../outputs/cannot-show.js';
import { renderMarkdown } from '../outputs/markdown.js';
import { OutputsView } from '../outputs/outputs-view.js';
import type { Mark } from '../state/agent-trail.js';
import type { Clash, Drafts } from '../state/drafts.js';
import type { Mode, Selection } from '../state/selection.js';
import { visibleNodes } from '../visible.js';
import { CellSource } from './cell-source.js';
import type { NotebookKeys } from './editor.js';
import { elicitationBody } from './elicitation-body.js';
import type { AskCompletions } from './kernel-completion.js';
import { inputBody, QuestionForm } from './question-form.js';
import { RunTime } from './run-time.js';

/** What a cell has of its notebook. */
export interface CellHost {
  drafts: Drafts;
  selection: Selection;
  keys: NotebookKeys;
  ask: AskHost;
  run: (cellId: string) => void;
  stop: () => void;
  complete: AskCompletions;
}

export const typeNames: { readonly [type in CellType]: string } = { code: 'Code', markdown: 'Text', raw: 'Raw' };

/** One cell as a person sees it. */
export class CellView {
  readonly element: HTMLElement;
  readonly source: CellSource;
  readonly outputs = new OutputsView();
  readonly #host: CellHost;
  readonly #count = el('span', { class: 'count', 'aria-hidden': 'true' });
  readonly #runButton: HTMLButtonElement;
  readonly #time = new RunTime();
  readonly #badge = el('div', { class: 'badge', hidden: true });
  readonly #prose = el('div', { class: 'prose', hidden: true });
  readonly #clash = el('div', { class: 'clash-place' });
  readonly #asked = el('div', { class: 'question-place' });
  readonly #faults = el('div', { class: 'cell-faults' });
  #cell: Cell;
  #index = 0;
  #run: Run | undefined;
  #isAwake = false;
  #isInRange = false;
  /** A text cell that shows its source, because a person edits it. */
  #isOpen = false;
  #question: QuestionForm | undefined;
  #proseOf: unknown;
  /** Why nothing can be run. */
  #offReason: string | undefined;

  constructor(cell: Cell, host: CellHost) {
    this.#cell = cell;
    this.#host = host;
    const { id } = cell;
    this.source = new CellSource({
      cellId: id,
      type: cell.type,
      text: host.drafts.textOf(cell),
      keys: host.keys,
      onEdit: (text) => host.drafts.edited(id, text),
      onFocus: () => host.selection.set(id, 'edit'),
      complete: host.complete,
    });
    const act = () => (this.#run ? host.stop() : host.run(id));
    this.#runButton = button({ class: 'run-button', tabindex: -1, onclick: act }, this.#count, icon('run'), icon('stop'));
    this.element = el(
      'article',
      { class: 'cell', 'data-cell-id': id, tabindex: -1, 'aria-roledescription': 'cell' },
      el('div', { class: 'gap' }, this.#badge),
      el('div', { class: 'gutter' }, this.#runButton, this.#time.element),
      el('div', { class: 'body' }, this.source.element, this.#prose, this.#clash, this.#faults, this.outputs.element, this.#asked),
    );
    this.#prose.addEventListener('dblclick', () => this.edit());
  }

  get cell(): Cell {
    return this.#cell;
  }

  /** Shows a part of the source, which stands open from then on, without taking the keyboard. */
  reveal(from: number, to: number): void {
    this.#isAwake = true;
    this.setOpen(true);
    this.source.reveal(from, to);
    this.element.scrollIntoView({ block: 'nearest' });
  }

  /** Takes over all but the outputs, for which `showOutputs` is called. */
  show(cell: Cell): void {
    this.#cell = cell;
    this.#guard('cell', () => {
      this.source.show(this.#host.drafts.textOf(cell));
      this.#showCell();
    });
  }

  /** Takes over outputs that are to be drawn with the next frame. */
  keep(cell: Cell): void {
    this.#cell = cell;
  }

  showText(text: string): void {
    this.source.show(text);
    this.#showProse();
  }

  /** Draws outputs until `endMs`; false if some are left. */
  showOutputs(endMs: number): boolean {
    const { outputs } = this.#cell;
    return this.#guard('output', () => this.outputs.show(outputs, { follows: this.#run?.state === 'running', endMs })) ?? true;
  }

  /** `reason`: why nothing can be run at the moment. */
  setOff(reason: string | undefined): void {
    if (reason === this.#offReason) return;
    this.#offReason = reason;
    this.#showLabels();
  }

  /** `durationMs`: of the last run, where it is known. */
  showRun(run: Run | undefined, durationMs: number | undefined): void {
    this.#run = run;
    this.#time.show(run, durationMs);
    this.#showCell();
  }

  showClash(clash: Clash | undefined): void {
    const choose = (keep: 'mine' | 'theirs') => this.#host.drafts.resolve(this.#cell.id, keep);
    this.#clash.replaceChildren(...(clash ? [clashBar(clash, choose)] : []));
  }

  /** What its running code asks. */
  showQuestion(question: OpenQuestion | undefined): void {
    if (question?.id === this.#question?.question.id) return;
    const before = this.#question?.hasFocus ? this.#question : undefined;
    this.#question = question && formFor(question, this.#host.ask);
    this.#asked.replaceChildren(...(this.#question ? [this.#question.element] : []));
    if (before && !before.giveBack()) this.focus();
    this.offerQuestion();
  }

  /** Its question takes the keyboard if it may. */
  offerQuestion(): void {
    this.#question?.offer();
  }

  /** Who did what here lately. */
  showMark(mark: Mark | undefined): void {
    this.element.classList.toggle('by-agent', mark !== undefined && !mark.isOld);
    this.element.classList.toggle('was-by-agent', mark?.isOld === true);
    this.#badge.hidden = !mark;
    if (!mark) return;
    setText(this.#badge, mark.isOld ? nameOf(mark.by) : `${nameOf(mark.by)} ${mark.what}`);
    this.#badge.title = mark.isOld ? `${nameOf(mark.by)} ${mark.what}` : '';
    this.#badge.classList.toggle('lasting', mark.isLasting);
    this.#badge.classList.toggle('old', mark.isOld);
  }

  setPlace(index: number, total: number): void {
    this.#index = index;
    this.element.setAttribute('aria-posinset', String(index + 1));
    this.element.setAttribute('aria-setsize', String(total));
    this.#showLabels();
  }

  setSelected(isSelected: boolean, mode: Mode): void {
    this.element.classList.toggle('selected', isSelected);
    this.element.classList.toggle('editing', isSelected && mode === 'edit');
    this.element.tabIndex = isSelected ? 0 : -1;
    this.#runButton.tabIndex = isSelected ? 0 : -1;
    setAttribute(this.element, 'aria-current', isSelected ? 'true' : undefined);
  }

  /** One of several that are selected. */
  setInRange(isInRange: boolean): void {
    if (isInRange === this.#isInRange) return;
    this.#isInRange = isInRange;
    this.element.classList.toggle('in-range', isInRange);
    this.#showLabels();
  }

  /** The cell can be seen, or soon. */
  wake(): void {
    this.#isAwake = true;
    this.#guard('cell', () => this.#showProse());
  }

  sleep(): void {
    this.#isAwake = false;
    this.source.sleep();
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: 'nearest' });
    this.#stayInView(4);
  }

  /** After a jump, cells on the way get their real heights, which may push this one away again. */
  #stayInView(frames: number): void {
    requestAnimationFrame(() => {
      if (document.activeElement !== this.element) return;
      this.element.scrollIntoView({ block: 'nearest' });
      if (frames > 1) this.#stayInView(frames - 1);
    });
  }

  edit(at?: 'start' | 'end'): void {
    this.#isOpen = true;
    this.#isAwake = true;
    this.#showProse();
    this.source.focus(at);
  }

  /** Whether a text cell shows its source from now on, or the text. */
  setOpen(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#showProse();
  }

  #showCell(): void {
    const { type, executionCount } = this.#cell;
    for (const name of ['code', 'markdown', 'raw']) this.element.classList.toggle(name, name === type);
    this.source.setType(type);
    this.element.classList.toggle('running', this.#run?.state === 'running');
    this.element.classList.toggle('queued', this.#run?.state === 'queued');
    const waits = this.#run?.state === 'queued' ? '…' : '*';
    setText(this.#count, this.#run ? `[${waits}]` : `[${executionCount ?? ' '}]`);
    this.#runButton.hidden = type !== 'code';
    this.#showLabels();
    this.#showProse();
  }

  #showLabels(): void {
    const { type, executionCount } = this.#cell;
    const run = this.#run && (this.#run.state === 'running' ? `, running, started by ${nameOf(this.#run.by)}` : ', waits to run');
    const count = !run && executionCount !== null ? `, run ${executionCount}` : '';
    const label = `${typeNames[type]} cell ${this.#index + 1}`;
    this.element.setAttribute('aria-label', `${label}${run ?? count}${this.#isInRange ? ', selected' : ''}`);
    this.source.setLabel(`Source of ${label.toLowerCase()}`);
    this.#runButton.setAttribute('aria-label', `${this.#run ? 'Stop' : 'Run'} cell ${this.#index + 1}`);
    this.#runButton.title = this.#offReason ?? (this.#run ? 'Stop' : 'Run (Ctrl+Enter)');
    this.#runButton.disabled = this.#offReason !== undefined;
  }

  /** Editors and prose are made for what can be seen; an empty text cell has nothing to show but its editor. */
  #showProse(): void {
    const isProse = this.#cell.type === 'markdown' && !this.#isOpen && this.source.text.trim() !== '';
    if (!this.#isAwake) return;
    this.#prose.hidden = !isProse;
    this.source.element.hidden = isProse;
    if (!isProse) {
      this.source.wake();
      return;
    }
    const key = JSON.stringify([this.source.text, this.#cell.attachments]);
    if (key === this.#proseOf) return;
    this.#proseOf = key;
    // What stands there stays until the new one is laid out.
    void renderMarkdown(this.source.text, this.#cell.attachments).then(
      (body) => this.#proseOf === key && this.#prose.replaceChildren(body),
    );
  }

  /** What cannot be drawn says so in its own place, and takes no other cell with it. */
  #guard<Result>(part: 'cell' | 'output', draw: () => Result): Result | undefined {
    try {
      const result = draw();
      if (part === 'cell') this.#faults.replaceChildren();
      return result;
    } catch (error) {
      this.#faults.replaceChildren(cannotShow(part === 'cell' ? 'A part of this cell' : 'The output of this cell', error));
      return undefined;
    }
  }
}

function formFor(question: OpenQuestion, ask: AskHost): QuestionForm {
  return new QuestionForm(question, 'elicitation' in question ? elicitationBody(question, ask) : inputBody(question, ask));
}

/** Two people at the same lines: both texts are kept until one is chosen. */
function clashBar({ theirs, by }: Clash, choose: (keep: 'mine' | 'theirs') => void): HTMLElement {
  const choice = (keep: 'mine' | 'theirs', text: string) => button({ onclick: () => choose(keep) }, text);
  return el(
    'div',
    { class: 'clash', role: 'alert' },
    el('p', {}, `${nameOf(by)} changed the lines that you are typing in. Your text is kept here, and not sent yet.`),
    el('details', {}, el('summary', {}, `See the text of ${nameOf(by)}`), el('pre', {}, ...visibleNodes(theirs))),
    el('div', { class: 'actions' }, choice('mine', 'Keep mine'), choice('theirs', 'Take theirs')),
  );
}
