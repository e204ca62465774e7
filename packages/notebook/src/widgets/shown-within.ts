import type { DisplayDataOutput, Output } from '../model/output.js';
import { widgetIdOf } from '../model/outputs.js';
import type { WidgetModels } from './widget-models.js';

/** A widget within an Output widget within a widget, and no deeper. */
const maxDepth = 3;

/**
 * The outputs with, behind each widget, what the Output widgets in it show: `interact` prints there, and who reads texts would see none of it. Each
 * is told of once, wherever it stands: some that hold views of each other would be more text than there is memory.
 */
export function withShownWithin(
  outputs: readonly Output[],
  widgets: WidgetModels | undefined,
  told: Set<string> = new Set(),
  depth = 0,
): readonly Output[] {
  if (!widgets || depth >= maxDepth) return outputs;
  return outputs.flatMap((output) => {
    const modelId = 'data' in output ? widgetIdOf((output as DisplayDataOutput).data) : undefined;
    if (modelId === undefined) return [output];
    const ids = [...widgets.reach(modelId, told).keys()];
    for (const id of ids) told.add(id);
    const shown = ids.flatMap((id) => widgets.shownBy(id));
    return [output, ...withShownWithin(shown, widgets, told, depth + 1)];
  });
}
