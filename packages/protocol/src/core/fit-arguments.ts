import { isJsonObject, type JsonObject } from '../json.js';

/**
 * The arguments of a call as the tool's schema has them: models, and hosts that pass on what they say, send numbers and lists as text. A text
 * that is exactly the integer, number or boolean that is wanted, or the JSON of the array or object, is taken as that, and null for what may
 * be left out is left out. Anything else stays, for the tool to refuse. Returns `args` itself where nothing changes.
 */
export function fitArguments({ properties, required }: JsonObject, args: JsonObject): JsonObject {
  if (!isJsonObject(properties)) return args;
  let fitted = args;
  for (const [name, value] of Object.entries(args)) {
    if (typeof value !== 'string' && value !== null) continue;
    const { [name]: schema } = properties;
    if (!Object.hasOwn(properties, name) || !isJsonObject(schema) || typeof schema.type !== 'string') continue;
    const meant = value === null ? undefined : meantBy(value, schema.type);
    const isLeftOut = value === null && !(Array.isArray(required) && required.includes(name));
    if (meant === undefined && !isLeftOut) continue;
    if (fitted === args) fitted = { ...args };
    if (isLeftOut) delete fitted[name];
    else fitted[name] = meant;
  }
  return fitted;
}

function meantBy(text: string, type: string): unknown {
  switch (type) {
    case 'integer':
      return /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case 'number':
      return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined;
    case 'array':
    case 'object':
      return jsonOf(text, type);
    default:
      return undefined;
  }
}

function jsonOf(text: string, type: 'array' | 'object'): unknown {
  if (!text.trimStart().startsWith(type === 'array' ? '[' : '{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
