import { tell } from './story.ts';
import { configMap } from './subjects.ts';

await tell('two want different things', configMap, {
  'B is refused, with A and the field named, and nothing changes': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      applies: 'data: {color: blue}',
      ends: 'refused',
      naming: [
        'Apply failed with 1 conflict: conflict with "A": .data.color',
        '.data.color conflict with "A"',
      ],
      object: 'data: {color: red}',
      owners: { A: ['.data.color'] },
    },
  ],
  'a refusal is of the whole configuration': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      applies: 'data: {color: blue, size: big}',
      ends: 'refused',
      object: 'data: {color: red}',
      owners: { A: ['.data.color'] },
    },
  ],
  'every manager and every field is named': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    { by: 'B', applies: 'data: {shape: round}' },
    {
      by: 'C',
      applies: 'data: {color: blue, size: small, shape: flat}',
      ends: 'refused',
      naming: [
        'Apply failed with 3 conflicts',
        'conflicts with "A":\n- .data.color\n- .data.size',
        'conflicts with "B":\n- .data.shape',
      ],
    },
  ],
  'who has updated is named with the version': [
    { by: 'A', creates: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: blue}', ends: 'refused', naming: ['conflict with "A" using v1'] },
  ],
  'B forces: the field is B’s alone': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    {
      by: 'B',
      applies: 'data: {color: blue}',
      force: true,
      ends: 'changed',
      object: 'data: {color: blue, size: big}',
      owners: { A: ['.data.size'], B: ['.data.color'] },
    },
  ],
  'after B has forced, A is refused in its turn': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: blue}', force: true },
    { by: 'A', applies: 'data: {color: red}', ends: 'refused', naming: ['"B"'] },
    { by: 'A', applies: 'data: {color: red}', force: true, owners: { A: ['.data.color'] } },
  ],
  'after B has forced, A gives in by wanting the same': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: blue}', force: true },
    {
      by: 'A',
      applies: 'data: {color: blue}',
      ends: 'changed',
      owners: { A: ['.data.color'], B: ['.data.color'] },
    },
  ],
  'force without a conflict does no more than apply': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      applies: 'data: {color: red, size: big}',
      force: true,
      owners: { A: ['.data.color'], B: ['.data.color', '.data.size'] },
    },
  ],
  'A applies x and y; B applies y differently and is refused; B forces; A goes on without y': [
    { by: 'A', applies: 'data: {x: "1", y: "1"}', ends: 'created' },
    { by: 'B', applies: 'data: {y: "2"}', ends: 'refused', naming: ['"A"', '.data.y'] },
    { by: 'B', applies: 'data: {y: "2"}', force: true, ends: 'changed' },
    {
      by: 'A',
      applies: 'data: {x: "1"}',
      object: 'data: {x: "1", y: "2"}',
      owners: { A: ['.data.x'], B: ['.data.y'] },
    },
  ],
});

await tell('two want the same', configMap, {
  'both own it': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: red}', owners: { A: ['.data.color'], B: ['.data.color'] } },
  ],
  'and then neither can change it without the other': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: red}' },
    { by: 'A', applies: 'data: {color: blue}', ends: 'refused', naming: ['"B"'] },
    { by: 'B', applies: 'data: {color: blue}', ends: 'refused', naming: ['"A"'] },
  ],
  'whoever leaves it first leaves it to the other': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: red, size: big}' },
    {
      by: 'A',
      applies: '{}',
      ends: 'changed',
      object: 'data: {color: red, size: big}',
      owners: { B: ['.data.color', '.data.size'] },
    },
  ],
  'it goes when the last of them leaves it': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: red}' },
    { by: 'A', applies: '{}', object: 'data: {color: red}' },
    { by: 'B', applies: '{}', object: 'data: null', owners: {} },
  ],
  'whoever forces a change takes it from all': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {color: red}' },
    { by: 'C', applies: 'data: {color: blue}', force: true, owners: { C: ['.data.color'] } },
  ],
});
