import type { MimeBundle, Output } from '../../model/output.js';
import { widgetIdOf } from '../../model/outputs.js';
import { chartOf } from '../../outputs/chart-bundle.js';
import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';
import { chartOutput } from './chart-output.js';
import { type Form, jsonForm, pictureForms, stillForm } from './drawn-outputs.js';
import { expectLate } from './late-parts.js';
import { renderLatex, renderMarkdown } from './markdown.js';
import { asText } from './mime-text.js';
import { scriptsOf } from './output-scripts.js';
import { scriptedOutput } from './scripted-output.js';

const forms: readonly Form[] = [
  ...pictureForms,
  ['text/markdown', 'This text', (value) => prose(renderMarkdown(asText(value)))],
  ['text/latex', 'This formula', (value) => prose(renderLatex(asText(value)), 'latex-output')],
  // Its plain text says no more than that it is JSON.
  ['application/json', 'This JSON', jsonForm],
];

/** An output with a mime bundle. */
export function richOutput(output: Extract<Output, { data: MimeBundle }>): HTMLElement {
  const { data = {}, metadata = {} } = output;
  const chart = chartOf(data);
  if (chart) return chartOutput(output, chart);
  const scripts = scriptsOf(data);
  const still = () => stillForm(data, metadata, forms);
  const modelId = widgetIdOf(data);
  if (modelId !== undefined) return widgetOutput(modelId, () => still() ?? el('div'));
  if (scripts) return scriptedOutput(output, scripts, still);
  // An empty box is for a script of another output to draw into.
  return still() ?? (data['text/html'] === undefined ? noForm(data) : el('div'));
}

function noForm(bundle: MimeBundle): HTMLElement {
  const kinds = Object.keys(bundle).join(', ').slice(0, 300) || 'it is empty';
  return el('div', { class: 'not-loaded' }, `This output cannot be shown here: ${kinds}`);
}

function prose(body: Promise<HTMLElement>, className = ''): HTMLElement {
  const element = el('div', { class: `prose ${className}`.trim() });
  expectLate(body.then((laidOut) => element.append(laidOut)));
  return element;
}

/** A widget of a kernel that has it, or its text and what it needs to live. What a kernel has was made by a run of this session. */
function widgetOutput(modelId: string, textForm: () => HTMLElement): HTMLElement {
  // The text stands until it is known what the kernel has, and wherever nothing lives, as in an export.
  const holder = el('div', { class: 'widget-output' }, textForm());
  expectLate(
    import('./live-widgets.js').then(
      ({ showWidget }) => showWidget({ holder, modelId, textForm }),
      (error: unknown) => holder.append(cannotShow('This widget', error)),
    ),
  );
  return holder;
}
