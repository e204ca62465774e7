/**
 * The values of a URI by a template whose `{name}` each stands for one character or more, but no "/" (RFC 6570, level 1); undefined if the
 * URI is not of the template. Throws a `TypeError` for a template that is not of that level.
 */
export function matchTemplate(uriTemplate: string, uri: string): Record<string, string> | undefined {
  const names: string[] = [];
  const pattern = uriTemplate.replace(/\{([^}]*)\}|[\\^$.*+?()[\]{}|/]/g, (found: string, name: string | undefined) => {
    if (name === undefined) return `\\${found}`;
    if (!/^\w+$/.test(name))
      throw new TypeError(`"${uriTemplate}" has "{${name}}", and only a name of letters, digits and "_" is understood there`);
    names.push(name);
    return '([^/]+)';
  });
  const found = new RegExp(`^${pattern}$`).exec(uri)?.slice(1);
  return found && Object.fromEntries(names.map((name, at) => [name, decode(found[at] ?? '')]));
}

/** An agent may send what is no escape. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
