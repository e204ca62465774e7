// @ts-check
// The page as it was before any agent: a board that a person draws on. It knows nothing of sessions.

/** @typedef {{ points: [x: number, y: number][], color?: string, width?: number }} Stroke */

export const size = { width: 800, height: 500 };
const paper = '#ffffff';
const ink = '#1b1b1f';
const storageKey = 'drawing-board';

/**
 * @param {HTMLCanvasElement} canvas
 * @param {() => { color: string, width: number }} pen What a person draws with.
 */
export function createBoard(canvas, pen) {
  /** @type {Stroke[]} */
  let strokes = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const sharpness = Math.max(1, Math.min(2, devicePixelRatio));
  canvas.width = size.width * sharpness;
  canvas.height = size.height * sharpness;
  context.scale(sharpness, sharpness);
  context.lineCap = 'round';
  context.lineJoin = 'round';

  function redraw() {
    context.fillStyle = paper;
    context.fillRect(0, 0, size.width, size.height);
    for (const { points, color = ink, width = 6 } of strokes) {
      // A colour that is none leaves the one before.
      context.strokeStyle = ink;
      context.strokeStyle = color;
      context.lineWidth = width;
      context.beginPath();
      for (const [x, y] of points) context.lineTo(x, y);
      // A line without length is not drawn, and a dot is one.
      if (points.length === 1) context.lineTo(points[0][0] + 0.01, points[0][1]);
      context.stroke();
    }
    canvas.setAttribute('aria-label', `The drawing: ${strokes.length} ${strokes.length === 1 ? 'stroke' : 'strokes'}`);
  }

  function save() {
    sessionStorage.setItem(storageKey, JSON.stringify(strokes));
    redraw();
  }

  /**
   * @param {PointerEvent} event
   * @returns {[number, number]}
   */
  function pointOf(event) {
    const box = canvas.getBoundingClientRect();
    const at = (/** @type {number} */ offset, /** @type {number} */ length, /** @type {number} */ units) =>
      Math.round((offset / length) * units);
    return [at(event.clientX - box.left, box.width, size.width), at(event.clientY - box.top, box.height, size.height)];
  }

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    strokes.push({ points: [pointOf(event)], ...pen() });
    redraw();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    strokes.at(-1)?.points.push(pointOf(event));
    redraw();
  });
  canvas.addEventListener('pointerup', save);
  redraw();

  return {
    get strokes() {
      return strokes;
    },

    /** @param {Stroke} stroke */
    add(stroke) {
      strokes.push(stroke);
      save();
    },

    clear() {
      strokes = [];
      save();
    },

    /** The picture as base64 of a PNG. */
    toPng() {
      return canvas.toDataURL('image/png').replace(/^.*,/, '');
    },
  };
}
