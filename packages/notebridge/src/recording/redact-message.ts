import { isJsonObject } from '@notebridge/protocol/json';
import { redactMembers, redactNumber } from '@notebridge/protocol/util/redact-members';
import { type Redactor, redactedMark } from '@notebridge/protocol/util/redactor';
import { isSecretName } from '@notebridge/protocol/util/secrets';
import { isNumber } from './match.js';
import { redactForms } from './text-secrets.js';

/** The redactor for a recording, which others will read: it finds secrets that are encoded, too. */
export type DeeplyRedacting = Pick<Redactor, 'redactDeeply' | 'redactBytes'>;

/** A copy of a message without secrets: those that are known, those that show by their form, and those that show by the name of their member. */
export function redactMessage(value: unknown, redactor: DeeplyRedacting): unknown {
  if (typeof value === 'string') return redactText(value, redactor);
  if (Array.isArray(value)) return value.map((item) => redactMessage(item, redactor));
  if (isNumber(value)) return redactNumber(value, (text) => redactor.redactDeeply(text));
  if (!isJsonObject(value)) return value;
  const named = value.name ?? value.key;
  // As lists of variables have them: a name, and its value beside it.
  const isOfSecret = typeof named === 'string' && isSecretName(named, true);
  return redactMembers(
    value,
    (text) => redactText(text, redactor),
    (member, name) => (isOfSecret && name === 'value' ? redactNamed(member, redactor) : redactMember(member, name, redactor)),
  );
}

function redactMember(member: unknown, name: string, redactor: DeeplyRedacting): unknown {
  if (isSecretName(name)) return redactNamed(member, redactor);
  if (name !== 'blob' || typeof member !== 'string') return redactMessage(member, redactor);
  const bytes = Buffer.from(member, 'base64');
  const known = redactor.redactBytes(bytes);
  const text = known.toString('utf8');
  // In what is no text, whatever looks like the form of a secret is chance.
  const hidden = text.includes('\ufffd') ? known : Buffer.from(redactText(text, redactor));
  return hidden.equals(bytes) ? redactMessage(member, redactor) : hidden.toString('base64');
}

/** An object says what a member is, as a schema does. A short number counts something. */
function redactNamed(value: unknown, redactor: DeeplyRedacting): unknown {
  if (Array.isArray(value)) return value.map((item) => redactNamed(item, redactor));
  const isSecret = typeof value === 'string' ? value !== '' : isNumber(value) && String(value).length >= 4;
  return isSecret ? redactedMark : redactMessage(value, redactor);
}

export function redactText(text: string, redactor: DeeplyRedacting): string {
  return redactForms(redactor.redactDeeply(text));
}
