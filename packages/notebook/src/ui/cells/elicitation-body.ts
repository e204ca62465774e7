import type { JsonObject } from '@notebridge/kit/json';
import type { Elicitation, ElicitationAnswer, FormField } from '../../session/elicitation.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import { button, el } from '../dom.js';
import { visible, visibleNodes } from '../visible.js';
import type { QuestionBody } from './question-form.js';

/** One field with its label, and the value that a person gives it; undefined for none. */
interface Control {
  readonly node: HTMLElement;
  readonly first: HTMLElement;
  value(): unknown;
}

/** What a server asks: a form of plain fields, or a URL that a person opens or not. No field hides what is typed: secrets are not asked here. */
export function elicitationBody(
  { elicitation }: OpenQuestion & { readonly elicitation: Elicitation },
  answer: (answer: ElicitationAnswer) => void,
): QuestionBody {
  const { server, message, url, fields } = elicitation;
  const head = el('p', { class: 'question-asker' }, el('b', {}, visible(server)), ', a server that the code calls, asks:');
  const text = el('p', { class: 'question-message' }, ...visibleNodes(message));
  const decline = button({ onclick: () => answer({ action: 'decline' }) }, 'Decline');
  const cancel = button({ onclick: () => answer({ action: 'cancel' }) }, 'Cancel');
  const refuse = (): void => answer({ action: 'cancel' });
  const hint = (words: string): Node => el('p', { class: 'question-hint' }, `${words} The cell waits. `, el('kbd', {}, 'Esc'), ' cancels.');

  if (url !== undefined) {
    const accept = (): void => answer({ action: 'accept' });
    // A link, and nothing that opens by itself: what a person sees is where it leads.
    const open = el(
      'a',
      { class: 'question-open', href: url, target: '_blank', rel: 'noopener noreferrer', onclick: accept },
      'Open the page',
    );
    const nodes = [
      head,
      text,
      el('p', { class: 'question-url' }, ...visibleNodes(url)),
      el('div', { class: 'actions' }, open, decline, cancel),
      hint('Look at the whole address before you open it: what is entered there reaches that site, and not this notebook.'),
    ];
    return { first: open, nodes, submit: () => {}, refuse };
  }

  const controls = fields.map((field) => ({ field, ...toControl(field) }));
  const accept = el('button', { type: 'submit', class: 'main' }, 'Send');
  const submit = (): void => {
    const content: JsonObject = {};
    for (const { field, value } of controls) {
      const given = value();
      // A name of the server may be any word, `__proto__` too.
      if (given !== undefined) Object.defineProperty(content, field.name, { value: given, enumerable: true });
    }
    answer({ action: 'accept', content });
  };
  const nodes = [
    head,
    text,
    ...controls.map(({ node }) => node),
    el('div', { class: 'actions' }, accept, decline, cancel),
    hint(`What you send goes to “${visible(server)}”. Never enter a password, key or other secret here.`),
  ];
  return { first: controls[0]?.first ?? accept, nodes, submit, refuse };
}

function toControl(field: FormField): Control {
  switch (field.type) {
    case 'boolean':
      return checkControl(field);
    case 'choice':
      return choiceControl(field);
    case 'choices':
      return choicesControl(field);
    default:
      return textControl(field);
  }
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' } as const;

function textControl({ type, format, min, max, preset, isRequired, ...field }: FormField): Control {
  const isNumber = type !== 'string';
  const bounds = isNumber ? { min, max, step: type === 'integer' ? 1 : 'any' } : { minlength: min, maxlength: max };
  const input = el('input', {
    type: isNumber ? 'number' : format === undefined ? 'text' : inputTypes[format],
    class: 'question-field',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'off',
    required: isRequired,
    ...bounds,
    // As MCP has it, a time has seconds and a zone.
    value: preset === undefined || format === 'date-time' ? undefined : String(preset),
    ...(format === 'date-time' ? { step: 1 } : {}),
  });
  const value = (): unknown => {
    if (input.value === '') return undefined;
    if (isNumber) return input.valueAsNumber;
    return format === 'date-time' ? new Date(input.value).toISOString() : input.value;
  };
  return { node: labelled({ ...field, isRequired }, input), first: input, value };
}

function checkControl({ preset, ...field }: FormField): Control {
  const input = el('input', { type: 'checkbox', checked: preset === true });
  const label = el('label', { class: 'question-check' }, input, titleOf({ ...field, isRequired: true }), descriptionOf(field));
  return { node: label, first: input, value: () => input.checked };
}

function choiceControl({ choices = [], preset, ...field }: FormField): Control {
  const none = el('option', { value: '' }, 'Choose…');
  // By place: a value may be an empty text.
  const options = choices.map(({ value, title }, at) => el('option', { value: String(at), selected: value === preset }, visible(title)));
  const select = el('select', { class: 'question-field', required: field.isRequired }, none, ...options);
  return {
    node: labelled(field, select),
    first: select,
    value: () => (select.value === '' ? undefined : choices[Number(select.value)]?.value),
  };
}

function choicesControl({ choices = [], preset, ...field }: FormField): Control {
  const chosen = Array.isArray(preset) ? preset : [];
  const boxes = choices.map(({ value, title }) => ({
    value,
    title,
    input: el('input', { type: 'checkbox', checked: chosen.includes(value) }),
  }));
  const node = el(
    'fieldset',
    { class: 'question-choices' },
    el('legend', {}, titleOf(field)),
    descriptionOf(field),
    ...boxes.map(({ input, title }) => el('label', { class: 'question-check' }, input, visible(title))),
  );
  const value = (): unknown => {
    const values = boxes.filter(({ input }) => input.checked).map((box) => box.value);
    return values.length === 0 && !field.isRequired ? undefined : values;
  };
  return { node, first: boxes[0]?.input ?? node, value };
}

type Labelled = Pick<FormField, 'title' | 'description' | 'isRequired'>;

function labelled(field: Labelled, control: HTMLElement): HTMLElement {
  return el('label', { class: 'question-labelled' }, titleOf(field), control, descriptionOf(field));
}

function titleOf({ title, isRequired }: Labelled): HTMLElement {
  return el(
    'span',
    { class: 'question-title' },
    visible(title),
    isRequired ? '' : el('span', { class: 'question-optional' }, ' (optional)'),
  );
}

function descriptionOf({ description }: Pick<Labelled, 'description'>): HTMLElement | undefined {
  return description === undefined ? undefined : el('span', { class: 'question-description' }, visible(description));
}
