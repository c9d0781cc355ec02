import { tell } from './story.ts';
import { configMap } from './subjects.ts';

await tell('what is no longer applied', configMap, {
  'goes when nobody else owns it': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    {
      by: 'A',
      applies: 'data: {color: red}',
      ends: 'changed',
      object: 'data: {color: red}',
      owners: { A: ['.data.color'] },
    },
  ],
  'takes the last trace of its manager along': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', applies: 'data: {size: big}' },
    { by: 'A', applies: '{}', object: 'data: {size: big}', owners: { B: ['.data.size'] } },
  ],
  'leaves no empty map behind': [
    { by: 'A', applies: 'metadata: {labels: {tier: front}}' },
    { by: 'A', applies: '{}', object: 'metadata: {labels: null}' },
  ],
  'stays when somebody has updated it since': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    { by: 'B', replaces: 'data: {color: blue, size: big}' },
    {
      by: 'A',
      applies: 'data: {size: big}',
      object: 'data: {color: blue, size: big}',
      owners: { A: ['.data.size'], 'B updates': ['.data.color'] },
    },
  ],
  'was there before is none of the manager’s business': [
    { by: 'A', creates: 'data: {color: red}' },
    { by: 'B', applies: 'data: {size: big}' },
    { by: 'B', applies: '{}', object: 'data: {color: red}', owners: { 'A updates': ['.data.color'] } },
  ],
  'can come back': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'A', applies: '{}', object: 'data: null' },
    { by: 'A', applies: 'data: {color: red}', object: 'data: {color: red}', owners: { A: ['.data.color'] } },
  ],
  'can be taken up by another': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'A', applies: '{}' },
    { by: 'B', applies: 'data: {color: blue}', ends: 'changed', owners: { B: ['.data.color'] } },
  ],
});
