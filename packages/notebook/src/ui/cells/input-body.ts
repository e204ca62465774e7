import type { InputQuestion } from '../../kernel/kernel.js';
import type { OpenQuestion } from '../../session/input-questions.js';
import { button, el } from '../dom.js';
import { visibleNodes } from '../visible.js';
import type { QuestionBody } from './question-form.js';
import { whoAsks } from './question-words.js';

/** A question of `input()`: one field. Null refuses. */
export function inputBody(question: OpenQuestion & InputQuestion, answer: (text: string | null) => void): QuestionBody {
  const { prompt, password } = question;
  const label = el('span', { class: 'question-prompt' }, ...visibleNodes(prompt.trim() === '' ? `${whoAsks(question)}:` : prompt));
  const type = password ? 'password' : 'text';
  const field = el('input', { type, class: 'question-field', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' });
  return {
    first: field,
    nodes: [
      el('label', {}, label, field),
      el(
        'div',
        { class: 'actions' },
        el('button', { type: 'submit', class: 'main' }, 'Answer'),
        button({ onclick: () => answer(null) }, 'Refuse'),
      ),
      el('p', { class: 'question-hint' }, 'The cell waits. ', el('kbd', {}, 'Enter'), ' answers, ', el('kbd', {}, 'Esc'), ' refuses.'),
    ],
    submit: () => answer(field.value),
    refuse: () => answer(null),
  };
}
