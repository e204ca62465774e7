import fc from 'fast-check';

/** Any text that a file can hold: Python cannot write halves of characters. */
export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('a', 'é', '😀', '\n', '\r', '\u2028', '\x0c', '\x85', '\x1c', '"', '\\', '\t', '\x7f', '\x00'),
    maxLength: 12,
  }),
);

// Keys that JavaScript would put into another order, or take for something else.
const anyKey = fc.oneof(fc.constantFrom('10', '2', '__proto__', 'z', 'Ab', '\uff01', '😀', 'constructor'), fc.string({ maxLength: 6 }));

/** Metadata with everything in it that JSON has. */
const anyObject = fc.dictionary(
  anyKey,
  fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      anyText,
      fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e21, 2 ** 53),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(anyKey, tie('value'), { maxKeys: 3 }),
    ),
  })).value,
  { maxKeys: 4 },
);

// Long ones are kept apart from their file's text.
const picture = fc.oneof(
  { weight: 5, arbitrary: fc.base64String({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom('iVBORw0KGgo='.repeat(400), `${'QUJD'.repeat(19)}\n`.repeat(60)) },
);
const bundle = fc.record(
  {
    'text/plain': anyText,
    'text/html': anyText,
    'image/png': picture,
    'image/svg+xml': anyText,
    'application/json': anyObject,
    'application/vnd.plotly.v1+json': fc.array(anyObject, { maxLength: 2 }),
    'application/javascript': anyText,
  },
  { requiredKeys: [] },
);
const count = fc.option(fc.nat(99));

export const anyOutput = fc.oneof(
  fc.record({ output_type: fc.constant('stream' as const), name: fc.constantFrom('stdout', 'stderr'), text: anyText }),
  fc.record({ output_type: fc.constant('display_data' as const), data: bundle, metadata: anyObject }),
  fc.record({ output_type: fc.constant('execute_result' as const), data: bundle, metadata: anyObject, execution_count: count }),
  fc.record({
    output_type: fc.constant('error' as const),
    ename: anyText,
    evalue: anyText,
    traceback: fc.array(anyText, { maxLength: 2 }),
  }),
);

const cellMetadata = anyObject.filter((metadata) => !['name', 'tags', 'jupyter', 'trusted'].some((key) => Object.hasOwn(metadata, key)));
const attachments = fc.dictionary(fc.constantFrom('a.png', '1.png'), bundle, { maxKeys: 2 });

/** A cell as a file has it, without an id. */
const anyDiskCell = fc.oneof(
  fc.record({
    cell_type: fc.constant('code'),
    metadata: cellMetadata,
    source: anyText,
    execution_count: count,
    outputs: fc.array(anyOutput, { maxLength: 3 }),
  }),
  fc.record(
    { cell_type: fc.constantFrom('markdown', 'raw'), metadata: cellMetadata, source: anyText, attachments },
    { requiredKeys: ['cell_type', 'metadata', 'source'] },
  ),
);

/** A valid notebook of nbformat 4.5, as an object. */
export const anyDiskNotebook = fc
  .record({ metadata: anyObject, cells: fc.array(anyDiskCell, { maxLength: 4 }) })
  .map(({ metadata, cells }) => ({
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' }, ...metadata },
    nbformat: 4,
    nbformat_minor: 5,
    cells: cells.map((cell, index) => ({ id: `cell-${index}`, ...cell })),
  }));
