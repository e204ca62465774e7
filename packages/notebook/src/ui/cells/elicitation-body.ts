import type { JsonObject } from '@notebridge/protocol/json';
import type { Elicitation, ElicitationAnswer, FormField } from '../../session/elicitation.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import { button, el } from '../dom.js';
import type { AskHost } from '../link/connection.js';
import { visible, visibleNodes } from '../visible.js';
import type { QuestionBody } from './question-form.js';

/** One field with its label, and the value that a person gives it; undefined for none. */
interface Control {
  readonly node: HTMLElement;
  readonly first: HTMLElement;
  value(): unknown;
}

/** What a server asks: a form of plain fields, or a URL that a person opens or not. No field hides what is typed: secrets are not asked here. */
export function elicitationBody({ id, elicitation }: OpenQuestion & { readonly elicitation: Elicitation }, ask: AskHost): QuestionBody {
  const { server, message, url, fields } = elicitation;
  const answer = (given: ElicitationAnswer) => void ask({ do: 'answerElicitation', questionId: id, answer: given });
  const refuse = () => answer({ action: 'cancel' });
  const controls = fields.map((field) => ({ field, ...controlOf[field.type](field) }));
  const submit = (): void => {
    const content: JsonObject = {};
    for (const { field, value } of controls) {
      const given = value();
      // A name of the server may be any word, `__proto__` too.
      if (given !== undefined) Object.defineProperty(content, field.name, { value: given, enumerable: true });
    }
    answer({ action: 'accept', content });
  };
  const open = {
    class: 'question-open',
    href: url,
    target: '_blank',
    rel: 'noopener noreferrer',
    onclick: () => answer({ action: 'accept' }),
  };
  // A link, and nothing that opens by itself: what a person sees is where it leads.
  const accept = url === undefined ? el('button', { type: 'submit', class: 'main' }, 'Send') : el('a', open, 'Open the page');
  const hint =
    url === undefined
      ? `What you send goes to “${visible(server)}”. Never enter a password, key or other secret here.`
      : 'Look at the whole address before you open it: what is entered there reaches that site, and not this notebook.';
  const nodes = [
    el('p', { class: 'question-asker' }, el('b', {}, visible(server)), ', a server that the code calls, asks:'),
    el('p', { class: 'question-message' }, ...visibleNodes(message)),
    ...(url === undefined ? [] : [el('p', { class: 'question-url' }, ...visibleNodes(url))]),
    ...controls.map(({ node }) => node),
    el(
      'div',
      { class: 'actions' },
      accept,
      button({ onclick: () => answer({ action: 'decline' }) }, 'Decline'),
      button({ onclick: refuse }, 'Cancel'),
    ),
    el('p', { class: 'question-hint' }, `${hint} The cell waits. `, el('kbd', {}, 'Esc'), ' cancels.'),
  ];
  return { first: controls[0]?.first ?? accept, nodes, submit, refuse };
}

const controlOf: { readonly [type in FormField['type']]: (field: FormField) => Control } = {
  boolean: checkControl,
  choice: choiceControl,
  choices: choicesControl,
  string: textControl,
  number: textControl,
  integer: textControl,
};

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' } as const;

function textControl(field: FormField): Control {
  const { type, format, min, max, preset, isRequired } = field;
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
  return { node: labelled(field, input), first: input, value };
}

function checkControl(field: FormField): Control {
  const input = el('input', { type: 'checkbox', checked: field.preset === true });
  const label = el('label', { class: 'question-check' }, input, titleOf({ ...field, isRequired: true }), descriptionOf(field));
  return { node: label, first: input, value: () => input.checked };
}

function choiceControl(field: FormField): Control {
  const { choices = [], preset, isRequired } = field;
  // By place: a value may be an empty text.
  const options = choices.map(({ value, title }, at) => el('option', { value: String(at), selected: value === preset }, visible(title)));
  const none = el('option', { value: '' }, 'Choose…');
  const select = el('select', { class: 'question-field', required: isRequired }, none, ...options);
  const value = () => (select.value === '' ? undefined : choices[Number(select.value)]?.value);
  return { node: labelled(field, select), first: select, value };
}

function choicesControl(field: FormField): Control {
  const { choices = [], preset, isRequired } = field;
  const chosen = Array.isArray(preset) ? preset : [];
  const boxes = choices.map(({ value }) => el('input', { type: 'checkbox', checked: chosen.includes(value) }));
  const labels = boxes.map((box, at) => el('label', { class: 'question-check' }, box, visible(choices[at]?.title ?? '')));
  const node = el('fieldset', { class: 'question-choices' }, el('legend', {}, titleOf(field)), descriptionOf(field), ...labels);
  const value = (): unknown => {
    const values = choices.filter((_, at) => boxes[at]?.checked).map((choice) => choice.value);
    return values.length === 0 && !isRequired ? undefined : values;
  };
  return { node, first: boxes[0] ?? node, value };
}

function labelled(field: FormField, control: HTMLElement): HTMLElement {
  return el('label', { class: 'question-labelled' }, titleOf(field), control, descriptionOf(field));
}

function titleOf({ title, isRequired }: FormField): HTMLElement {
  const optional = isRequired ? '' : el('span', { class: 'question-optional' }, ' (optional)');
  return el('span', { class: 'question-title' }, visible(title), optional);
}

function descriptionOf({ description }: FormField): HTMLElement | undefined {
  return description === undefined ? undefined : el('span', { class: 'question-description' }, visible(description));
}
