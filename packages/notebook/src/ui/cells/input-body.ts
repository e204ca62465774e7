import type { InputQuestion } from '../../kernel/kernel.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import { button, el } from '../dom.js';
import type { Ask } from '../link/connection.js';
import { visibleNodes } from '../visible.js';
import { type QuestionBody, whoAsks } from './question-form.js';

/** A question of `input()`: one field. */
export function inputBody(question: OpenQuestion & InputQuestion, ask: Ask): QuestionBody {
  const { id, prompt, password } = question;
  const answer = (text: string | null) => void ask({ do: 'answerInput', questionId: id, text });
  const refuse = () => answer(null);
  const label = el('span', { class: 'question-prompt' }, ...visibleNodes(prompt.trim() === '' ? `${whoAsks(question)}:` : prompt));
  const type = password ? 'password' : 'text';
  const field = el('input', { type, class: 'question-field', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' });
  const send = el('button', { type: 'submit', class: 'main' }, 'Answer');
  const nodes = [
    el('label', {}, label, field),
    el('div', { class: 'actions' }, send, button({ onclick: refuse }, 'Refuse')),
    el('p', { class: 'question-hint' }, 'The cell waits. ', el('kbd', {}, 'Enter'), ' answers, ', el('kbd', {}, 'Esc'), ' refuses.'),
  ];
  return { first: field, nodes, submit: () => answer(field.value), refuse };
}
