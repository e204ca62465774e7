/** One of the layers between the code of a notebook and the machine, as it stands with this kernel. */
export interface Layer {
  readonly name: 'operating system' | 'runtime' | 'neighbours';
  /** False: nothing may be expected of it. */
  readonly active: boolean;
  /** What it is made of, or why it is not active. */
  readonly text: string;
  /** What would make it active, where that can be said. */
  readonly fix?: string | undefined;
}

/** The words of doctor, window and tools alike. */
export function describeLayer(layer: Layer): string {
  return `${layer.name}: ${describeLayerState(layer)}`;
}

export function describeLayerState({ active, text }: Layer): string {
  return `${active ? 'active' : 'not active'} (${text})`;
}
