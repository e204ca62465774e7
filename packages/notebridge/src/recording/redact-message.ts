import { ExactNumber, isJsonObject, type JsonObject, setMember } from '@notebridge/kit/json';
import { type Redacting, redactedMark } from '../util/redactor.js';
import { isSecretName, redactForms } from './text-secrets.js';

/** A copy of a message without secrets: those that are known, those that show by their form, and those that show by the name of their member. */
export function redactMessage(value: unknown, redactor: Redacting): unknown {
  if (typeof value === 'string') return redactText(value, redactor);
  if (Array.isArray(value)) return value.map((item) => redactMessage(item, redactor));
  if (!isJsonObject(value) || value instanceof ExactNumber) return value;
  const redacted: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const isSecret = typeof member === 'string' && member !== '' && isSecretName(name);
    setMember(redacted, redactText(name, redactor), isSecret ? redactedMark : redactMessage(member, redactor));
  }
  return redacted;
}

export function redactText(text: string, redactor: Redacting): string {
  return redactForms(redactor.redact(text));
}
