/** A text of a request. JSON Schema: the description of the routes shows it, and requests are held against it. */
export interface TextSchema {
  readonly type: 'string';
  readonly pattern: string;
}

/** An object of a request, as far as it is looked at. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly required?: readonly string[];
}

/** The body of a call. */
export const callSchema = {
  type: 'object',
  properties: { arguments: { type: 'object', description: 'The arguments of the tool.' } },
  required: ['arguments'],
} as const satisfies ObjectSchema;

export const idempotencyKeySchema: TextSchema = { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' };
export const challengeSchema: TextSchema = { type: 'string', pattern: '^[A-Za-z0-9_-]{16,256}$' };

const patterns = new Map<TextSchema, RegExp>();

/** True if a text is what its schema says. */
export function fits(text: string, schema: TextSchema): boolean {
  let pattern = patterns.get(schema);
  if (pattern === undefined) {
    pattern = new RegExp(schema.pattern);
    patterns.set(schema, pattern);
  }
  return pattern.test(text);
}
