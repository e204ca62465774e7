import { shortText } from '../outputs/chart-data.js';
import { decodeEntities } from '../outputs/entities.js';
import type { ModelState } from './model-state.js';
import type { WidgetModels } from './widget-models.js';

/** What a text may take, and how deep boxes stand in boxes. */
const [maxCharacters, maxDepth] = [400, 10];
const maxModels = 200;
const nothing = '[a widget that shows nothing now]';

/**
 * What a widget of ipywidgets shows now, in a few words: its `text/plain` is as old as the call that showed it, when a bar stood at 0 %. Undefined for
 * one that is not known, or of another package.
 */
export function widgetText(widgets: WidgetModels, modelId: string): string | undefined {
  if (widgets.isClosed(modelId)) return nothing;
  const root = widgets.find(modelId);
  if (!root || !isKnown(root)) return undefined;
  let left = maxModels;
  const read = (id: string, depth: number): string => {
    const model = widgets.find(id);
    if (!model || depth > maxDepth || left-- <= 0 || isHidden(model)) return '';
    const children = idsOf(model.get('children')).map((child) => read(child, depth + 1));
    if (children.length === 0) return ownText(model);
    return withTitles(children, model.get('titles')).join(model.get('_model_name') === 'HBoxModel' ? ' ' : '\n');
  };
  const isHidden = (model: ModelState): boolean => {
    const [layout] = idsOf([model.get('layout')]).map((id) => widgets.find(id));
    return layout?.get('display') === 'none' || layout?.get('visibility') === 'hidden';
  };
  const text = read(modelId, 0);
  return text === '' ? nothing : shortText(text, maxCharacters);
}

function isKnown(model: ModelState): boolean {
  return model.get('_model_module') === '@jupyter-widgets/controls';
}

function idsOf(names: unknown): string[] {
  return Array.isArray(names) ? names.flatMap((name) => /^IPY_MODEL_(.+)$/.exec(String(name))?.[1] ?? []) : [];
}

function withTitles(children: readonly string[], titles: unknown): string[] {
  const names = Array.isArray(titles) ? titles : [];
  return children.map((child, at) => (names[at] ? `${String(names[at])}: ${child}` : child)).filter((child) => child !== '');
}

/** `Threshold: 30`; of a bar how far it is; of a list what is chosen. */
function ownText(model: ModelState): string {
  const kind = String(model.get('_model_name'));
  if (!isKnown(model)) return kind === 'OutputModel' ? '' : `[${kind.replace(/Model$/, '')}]`;
  const description = plain(model.get('description'));
  if (/^(?:Toggle)?ButtonModel$/.test(kind)) return `[${description}]`;
  const value = valueText(model, kind);
  if (description === '') return value;
  return `${description.replace(/:\s*$/, '')}: ${value}`;
}

function valueText(model: ModelState, kind: string): string {
  const value = model.get('value');
  if (/ProgressModel$/.test(kind)) return `${String(value)} of ${String(model.get('max'))}`;
  const labels = model.get('_options_labels');
  if (Array.isArray(labels)) {
    const chosen = [model.get('index')].flat().map((at) => labels[Number(at)] as unknown);
    return chosen.filter((label) => label !== undefined).join(', ');
  }
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? value.map(String).join('–') : '';
  return kind === 'PasswordModel' || value === undefined ? '' : plain(value);
}

function plain(value: unknown): string {
  const text = String(value ?? '');
  return decodeEntities(text.length > 10_000 ? '' : text.replace(/<[^<>]*>/g, '')).trim();
}
