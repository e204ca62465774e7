/** Puts what floats below this place, or above it, where there is room. */
export function placeBeside(element: HTMLElement, { left, top, bottom }: { left: number; top: number; bottom: number }): void {
  const { width, height } = element.getBoundingClientRect();
  const isBelow = bottom + height + 8 <= innerHeight || top - height < 8;
  element.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  element.style.top = `${isBelow ? Math.min(bottom + 4, Math.max(8, innerHeight - height - 8)) : top - height - 4}px`;
}
