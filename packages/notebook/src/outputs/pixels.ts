/** Four bytes for each pixel: red, green, blue, opacity. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** Each pixel is the mean of those that it stands for, so that thin lines stay. Never larger. */
export function scaleDown(image: Pixels, size: { width: number; height: number }): Pixels {
  const [width, height] = [Math.min(size.width, image.width), Math.min(size.height, image.height)];
  if (width === image.width && height === image.height) return image;
  const data = new Uint8ClampedArray(4 * width * height);
  const columns = Array.from({ length: width + 1 }, (_, index) => Math.floor((index * image.width) / width));
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [Math.floor((y * image.height) / height), Math.floor(((y + 1) * image.height) / height)];
    for (let x = 0; x < width; x++) {
      const mean = meanOf(image, { left: columns[x] ?? 0, right: columns[x + 1] ?? 0, top, bottom });
      data.set(mean, 4 * (y * width + x));
    }
  }
  return { data, width, height };
}

const mean: [number, number, number, number] = [0, 0, 0, 0];

/** What is transparent has no colour of its own. */
function meanOf({ data, width }: Pixels, box: { left: number; right: number; top: number; bottom: number }): typeof mean {
  let [red, green, blue, opacity] = [0, 0, 0, 0];
  for (let y = box.top; y < box.bottom; y++) {
    for (let at = 4 * (y * width + box.left), end = 4 * (y * width + box.right); at < end; at += 4) {
      const weight = data[at + 3] ?? 0;
      red += weight * (data[at] ?? 0);
      green += weight * (data[at + 1] ?? 0);
      blue += weight * (data[at + 2] ?? 0);
      opacity += weight;
    }
  }
  const divisor = Math.max(1, opacity);
  [mean[0], mean[1], mean[2]] = [red / divisor, green / divisor, blue / divisor];
  mean[3] = opacity / ((box.right - box.left) * (box.bottom - box.top));
  return mean;
}

/** On white. */
export function flatten({ data, width, height }: Pixels): Pixels {
  const flat = new Uint8ClampedArray(data.length);
  for (let at = 0; at < data.length; at += 4) {
    const weight = (data[at + 3] ?? 0) / 255;
    for (let channel = at; channel < at + 3; channel++) flat[channel] = 255 + ((data[channel] ?? 0) - 255) * weight;
    flat[at + 3] = 255;
  }
  return { data: flat, width, height };
}
