import { expect, it } from 'vitest';
import { complaintsAbout, requirements, withdrawn } from '../../../../scripts/tests/requirements.mjs';

const list = `# What is promised

- **P-001** Good
- **P-002** (deep) Takes long
- **P-003** Without a test
- **P-004** With a deep test alone
- **P-005** (deep) Its test is cheap by now
- **P-005** Twice

| number | now | why |
| --- | --- | --- |
| P-006 | P-001 | The same idea. |
| P-007 | – | Nobody noticed. |
`;
const [core, deep] = [
  { core: 1, deep: 0 },
  { core: 0, deep: 1 },
];
const tests = new Map([
  ['P-001', { core: 2, deep: 3 }],
  ['P-002', deep],
  ['P-004', deep],
  ['P-005', core],
  ['P-007', core],
  ['P-009', core],
]);

it('the list of requirements is at fault where it and the tags of tests differ', () => {
  expect(complaintsAbout([...requirements(list), { id: 'P-009', text: 'New', isDeep: false }], withdrawn(list), tests)).toEqual([
    'P-005 stands in the list twice.',
    'P-008 is missing: a number that is no longer promised goes to the table at the end.',
    "P-003 has no test: give one the tag 'P-003'.",
    'P-004 has deep tests alone: write "(deep)" behind its number, or better, a test of the core.',
    'P-005 has a test of the core: take "(deep)" out.',
    'P-007 is the tag of a test, and is not promised.',
  ]);
});

it.each(['- P-001 not in bold', '- **P-001**sentence', '- **P-001** '])('a line of the list that cannot be read is named: %s', (line) => {
  expect(() => requirements(line)).toThrow(line.trim());
});
