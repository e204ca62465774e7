/** What an image's own bytes say of it. Undefined for everything that is no image a window shows. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const has = (text: string, at = 0) => bytes.subarray(at, at + text.length).toString('latin1') === text;
  if (has('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (has('\xff\xd8\xff')) return 'image/jpeg';
  if (has('GIF87a') || has('GIF89a')) return 'image/gif';
  if (has('RIFF') && has('WEBP', 8)) return 'image/webp';
  if (has('ftypavif', 4) || has('ftypavis', 4)) return 'image/avif';
  return isSvg(bytes) ? 'image/svg+xml' : undefined;
}

/** The first element is `svg`; what may stand before it is declarations and comments. */
function isSvg(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 8192).toString('utf8');
  return /^\uFEFF?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE[^>[]{0,500}(?:\[[^\]]{0,4000}\])?\s*>\s*){0,10}<svg[\s>]/i.test(
    head,
  );
}
