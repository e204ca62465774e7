type Colour = readonly [red: number, green: number, blue: number];

/** The grounds that are nearest to a text's colour: `--ground` in light, `--raised` in dark. */
const grounds: { readonly light: Colour; readonly dark: Colour } = { light: [246, 246, 244], dark: [35, 39, 44] };
const wantedContrast = 4.5;
const known = new Map<string, string>();

/** A colour that a program chose for a terminal of its own, as it can be read on the grounds of both themes. `rgb`: `rgb(0, 135, 0)`. */
export function legible(rgb: string): string {
  const before = known.get(rgb);
  if (before !== undefined) return before;
  const colour = rgb.match(/\d+/g)?.map(Number) as unknown as Colour;
  const result = `light-dark(${towards(colour, 0, grounds.light)}, ${towards(colour, 255, grounds.dark)})`;
  if (known.size < 1000) known.set(rgb, result);
  return result;
}

/** Black or white, whichever is read on this ground. */
export function inkOn(rgb: string): string {
  return luminance(rgb.match(/\d+/g)?.map(Number) as unknown as Colour) > 0.18 ? '#000' : '#fff';
}

function towards(colour: Colour, end: 0 | 255, ground: Colour): string {
  for (let share = 0; ; share += 0.1) {
    const mixed = colour.map((part) => Math.round(part + (end - part) * Math.min(1, share))) as unknown as Colour;
    if (share >= 1 || contrast(mixed, ground) >= wantedContrast) return `rgb(${mixed.join(', ')})`;
  }
}

/** As WCAG has it: from 1 to 21. */
function contrast(one: Colour, other: Colour): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) =>
    part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
