// @module-tag P-269

import { outputsSince, parseCursor, toCursor } from '@notebridge/protocol/runs/output-cursor';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyOutput } from '../../test/support/notebooks.js';
import { createDocument } from '../model/document.js';
import type { Output } from '../model/output.js';

const by = { kind: 'person', name: 'Ann' } as const;

it('answers each finished line and each output once, however the reader’s turns fall', () => {
  const printed = fc
    .string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 12 })
    .map((text) => ({ output_type: 'stream', name: 'stdout', text }));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(printed, anyOutput), fc.boolean()), { maxLength: 30 }), (steps) => {
      const cells = [{ id: 'c', type: 'code' as const, source: '', metadata: {}, outputs: [], executionCount: null }];
      const document = createDocument({ metadata: {}, minor: 5, cells });
      const outputs = () => document.get('c').cell.outputs;
      let cursor: string | undefined;
      let read = '';
      let others = 0;
      const look = () => {
        const since = outputsSince(outputs(), 0, cursor === undefined ? undefined : parseCursor(cursor));
        cursor = toCursor(outputs(), 0);
        for (const [index, output] of since.entries()) {
          if (output.output_type !== 'stream') others++;
          else {
            const text = String(output.text);
            // The last line, which may still change, comes again when more has come.
            read += index === since.length - 1 ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
          }
        }
      };
      for (const [output, looks] of steps) {
        document.appendOutput('c', output as Output, { by });
        if (looks) look();
      }
      look();
      const all = outputs();
      const wanted = all.map((output, index) => {
        if (output.output_type !== 'stream') return '';
        const text = String(output.text);
        return index === all.length - 1 ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
      });
      expect(read).toBe(wanted.join(''));
      expect(others).toBe(all.filter(({ output_type }) => output_type !== 'stream').length);
    }),
  );
});

it('begins again when the outputs have', () => {
  const text = (value: string): Output => ({ output_type: 'stream', name: 'stdout', text: value });
  const cursor = parseCursor(toCursor([text('one\n'), text('two\nthree\n')], 1));
  expect(outputsSince([text('new\n')], 2, cursor)).toEqual([text('new\n')]);
  expect(outputsSince([text('one\n'), text('two\nthree\nfour')], 1, cursor)).toEqual([text('four')]);
});
