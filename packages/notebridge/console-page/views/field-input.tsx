import { useId } from 'preact/hooks';
import { lines, oneLine } from '../format.js';
import type { Field } from '../try-out/fields.js';

interface FieldInputProps {
  field: Field;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}

/** One argument, labelled by its name, with what the server says of it. */
export function FieldInput({ field, value, fault, onChange }: FieldInputProps) {
  const id = useId();
  const { name, isRequired, kind, description } = field;
  const common = {
    id,
    value,
    'aria-required': isRequired,
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-about`,
    onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>
        {oneLine(name)}
        <span class="soft">
          {' '}
          {words[kind]}
          {isRequired ? '' : ', optional'}
        </span>
      </label>
      {inputOf(field, common)}
      <p id={`${id}-about`} class="about">
        {description === undefined ? '' : lines(description)}
        {fault === undefined ? null : <span class="fault"> {fault}</span>}
      </p>
    </div>
  );
}

const words: { readonly [kind in Field['kind']]: string } = {
  text: 'text',
  number: 'number',
  boolean: 'yes or no',
  choice: 'one of',
  json: 'JSON',
};

interface CommonProps {
  id: string;
  value: string;
  onInput: (event: { currentTarget: { value: string } }) => void;
}

function inputOf({ kind, choices, isRequired }: Field, common: CommonProps) {
  switch (kind) {
    case 'boolean':
    case 'choice':
      return (
        <select {...common}>
          <option value="">{isRequired ? 'choose …' : 'left out'}</option>
          {(kind === 'boolean' ? ['true', 'false'] : choices).map((choice) => (
            <option key={choice} value={choice}>
              {oneLine(choice)}
            </option>
          ))}
        </select>
      );
    case 'number':
      return <input type="text" inputMode="decimal" autocomplete="off" {...common} />;
    case 'text':
      return (
        <textarea
          spellcheck={false}
          rows={common.value.includes('\n') ? Math.min(12, common.value.split('\n').length + 1) : 1}
          {...common}
        />
      );
    case 'json':
      return <textarea class="code" spellcheck={false} rows={Math.min(12, common.value.split('\n').length + 1)} {...common} />;
  }
}
