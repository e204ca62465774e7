import { ExactNumber, isJsonObject } from '@notebridge/kit/json';
import { redactBytes } from '../util/encoded-secrets.js';
import { redactMembers } from '../util/redact-members.js';
import { type Redactor, redactedMark } from '../util/redactor.js';
import { isSecretName } from '../util/secrets.js';
import { redactForms } from './text-secrets.js';

/** The redactor for a recording, which others will read: it finds secrets that are encoded, too. */
export type DeeplyRedacting = Pick<Redactor, 'redactDeeply'>;

/** A copy of a message without secrets: those that are known, those that show by their form, and those that show by the name of their member. */
export function redactMessage(value: unknown, redactor: DeeplyRedacting): unknown {
  if (typeof value === 'string') return redactText(value, redactor);
  if (Array.isArray(value)) return value.map((item) => redactMessage(item, redactor));
  if (!isJsonObject(value) || value instanceof ExactNumber) return value;
  return redactMembers(
    value,
    (text) => redactText(text, redactor),
    (member, name) => redactMember(member, name, redactor),
  );
}

function redactMember(member: unknown, name: string, redactor: DeeplyRedacting): unknown {
  if (isSecretName(name)) return redactNamed(member, redactor);
  if (name !== 'blob' || typeof member !== 'string') return redactMessage(member, redactor);
  // In what is no text, whatever looks like the form of a secret is chance.
  const hidden = redactBytes(Buffer.from(member, 'base64'), (decoded, isText) =>
    isText ? redactText(decoded, redactor) : redactor.redactDeeply(decoded),
  );
  return hidden === undefined ? redactMessage(member, redactor) : hidden.toString('base64');
}

/** An object says what a member is, as a schema does. A short number counts something. */
function redactNamed(value: unknown, redactor: DeeplyRedacting): unknown {
  if (Array.isArray(value)) return value.map((item) => redactNamed(item, redactor));
  const isSecret = typeof value === 'string' ? value !== '' : isNumber(value) && String(value).length >= 4;
  return isSecret ? redactedMark : redactMessage(value, redactor);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}

export function redactText(text: string, redactor: DeeplyRedacting): string {
  return redactForms(redactor.redactDeeply(text));
}
