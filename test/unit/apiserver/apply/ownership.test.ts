import { tell } from './story.ts';
import { configMap, node, pod } from './subjects.ts';

await tell('whoever writes a field owns it', configMap, {
  'what A applies is there, and is A’s, field by field': [
    {
      by: 'A',
      applies: 'data: {color: red, size: big}',
      ends: 'created',
      object: 'data: {color: red, size: big}',
      owners: { A: ['.data.color', '.data.size'] },
    },
  ],
  'A applies the same again and nothing happens': [
    { by: 'A', applies: 'data: {color: red}', ends: 'created' },
    { by: 'A', applies: 'data: {color: red}', ends: 'unchanged', owners: { A: ['.data.color'] } },
  ],
  'A changes its mind': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'A', applies: 'data: {color: blue}', ends: 'changed', object: 'data: {color: blue}' },
  ],
  'B applies another field: each owns its own': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      applies: 'data: {size: big}',
      ends: 'changed',
      object: 'data: {color: red, size: big}',
      owners: { A: ['.data.color'], B: ['.data.size'] },
    },
  ],
  'labels and annotations are owned one by one': [
    { by: 'A', applies: 'metadata: {labels: {tier: front}, annotations: {note: hi}}' },
    {
      by: 'B',
      applies: 'metadata: {labels: {zone: north}}',
      object: 'metadata: {labels: {tier: front, zone: north}}',
      owners: { A: ['.metadata.annotations.note', '.metadata.labels.tier'], B: ['.metadata.labels.zone'] },
    },
  ],
  'the type, the name and what the server gives are nobody’s': [
    { by: 'A', applies: '{}', ends: 'created', owners: {} },
    { by: 'A', applies: 'immutable: false', ends: 'changed', owners: { A: ['.immutable'] } },
  ],
  'whoever creates owns all that was created': [
    { by: 'A', creates: 'data: {color: red}', ends: 'created', owners: { 'A updates': ['.data.color'] } },
  ],
  'a PUT makes its sender the owner of what it changes, and of nothing else': [
    { by: 'A', creates: 'data: {color: red, size: big}' },
    {
      by: 'B',
      replaces: 'data: {color: blue, size: big}',
      owners: { 'A updates': ['.data.size'], 'B updates': ['.data.color'] },
    },
  ],
  'a PUT that changes nothing makes nobody an owner': [
    { by: 'A', creates: 'data: {color: red}' },
    { by: 'B', replaces: 'data: {color: red}', ends: 'unchanged', owners: { 'A updates': ['.data.color'] } },
  ],
  'to apply and to update under one name are two managers': [
    { by: 'A', creates: 'data: {color: red}' },
    {
      by: 'A',
      applies: 'data: {color: red, size: big}',
      owners: { A: ['.data.color', '.data.size'], 'A updates': ['.data.color'] },
    },
    { by: 'A', applies: 'data: {color: blue}', ends: 'refused', naming: ['"A" using v1', '.data.color'] },
  ],
  'a key with dots and slashes is one field': [
    {
      by: 'A',
      applies: 'metadata: {annotations: {"example.com/a.b": "1"}}',
      owners: { A: ['.metadata.annotations.example.com/a.b'] },
    },
  ],
});

await tell('what the server fills in', pod, {
  'has no owner when it was not applied': [
    {
      by: 'A',
      applies: 'spec: {containers: [{name: web, image: "nginx:1"}]}',
      ends: 'created',
      owners: { A: ['.spec.containers[name=web].image', '.spec.containers[name=web].name'] },
    },
  ],
});

await tell('a zero', node, {
  'that is applied is owned, although it is not shown': [
    { by: 'A', applies: 'spec: {externalID: ""}', owners: { A: ['.spec.externalID'] } },
    { by: 'A', applies: 'spec: {externalID: ""}', ends: 'unchanged' },
    {
      by: 'B',
      applies: 'spec: {externalID: one}',
      ends: 'refused',
      naming: ['"A"', '.spec.externalID'],
    },
    { by: 'B', applies: 'spec: {externalID: one}', force: true, owners: { B: ['.spec.externalID'] } },
    { by: 'A', applies: 'spec: {externalID: ""}', ends: 'refused', naming: ['"B"'] },
  ],
});
