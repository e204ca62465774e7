import createPurify from 'dompurify';

const purify = createPurify(window);

/** In place of `sanitize-html`, which brings a parser of CSS along: descriptions of widgets may hold simple marks, and nothing that acts. */
export default function inlineHtml(html: string, { allowedTags }: { allowedTags: readonly string[] }): string {
  return purify.sanitize(html, { ALLOWED_TAGS: [...allowedTags], ALLOWED_ATTR: ['class', 'style', 'title', 'href', 'src'] });
}
