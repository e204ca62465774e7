import fc from 'fast-check';
import { expect, it } from 'vitest';
import { editText } from './edit-text.js';
import * as Y from './yjs.js';

function textOf(source: string): Y.Text {
  const text = new Y.Doc().getText('t');
  text.insert(0, source);
  return text;
}

const lines = fc.array(fc.constantFrom('a = 1\n', 'b = "😀"\n', '\n', 'c', '😁', '\r\n'), { maxLength: 12 }).map((parts) => parts.join(''));

it('makes the one text of the other', () => {
  fc.assert(
    fc.property(lines, lines, (source, target) => {
      const text = textOf(source);
      editText(text, target);
      expect(text.toString()).toBe(target);
    }),
  );
});

it('keeps what another types at the same time into lines that stay', () => {
  const [mine, theirs] = [new Y.Doc(), new Y.Doc()];
  mine.getText('t').insert(0, 'first = 1\nsecond = 2\nthird = 3\n');
  Y.applyUpdate(theirs, Y.encodeStateAsUpdate(mine));
  theirs.getText('t').insert(theirs.getText('t').toString().indexOf('2') + 1, '2 # typed');
  editText(mine.getText('t'), 'first = 10\nsecond = 2\nthird = 30\nfourth = 4\n');
  Y.applyUpdate(mine, Y.encodeStateAsUpdate(theirs));
  expect(mine.getText('t').toString()).toBe('first = 10\nsecond = 22 # typed\nthird = 30\nfourth = 4\n');
});
