import assert from 'node:assert/strict';
import type { Step } from './story.ts';
import { tell } from './story.ts';
import { clusterRole, configMap } from './subjects.ts';

await tell('somebody updates what is applied', configMap, {
  'the update takes the field from who applied it': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    {
      by: 'B',
      replaces: 'data: {color: blue, size: big}',
      ends: 'changed',
      owners: { A: ['.data.size'], 'B updates': ['.data.color'] },
    },
  ],
  'and who applied it is refused then': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', 'merge-patches': 'data: {color: blue}' },
    { by: 'A', applies: 'data: {color: red}', ends: 'refused', naming: ['"B" using v1', '.data.color'] },
    { by: 'A', applies: 'data: {color: red}', force: true, owners: { A: ['.data.color'] } },
  ],
  'an update that leaves a field alone leaves its owner alone': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      'merge-patches': 'data: {size: big}',
      owners: { A: ['.data.color'], 'B updates': ['.data.size'] },
    },
    { by: 'A', applies: 'data: {color: green}', ends: 'changed' },
  ],
  'what an update takes away is nobody’s, and can be applied anew': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    { by: 'B', replaces: 'data: {size: big}', owners: { A: ['.data.size'] } },
    { by: 'A', applies: 'data: {color: red, size: big}', ends: 'changed' },
  ],
  'a JSON Patch is an update': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      'json-patches': '[{op: replace, path: /data/color, value: blue}]',
      owners: { 'B updates': ['.data.color'] },
    },
  ],
  'a strategic merge patch is an update': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', 'strategically patches': 'data: {color: blue}', owners: { 'B updates': ['.data.color'] } },
  ],
  'a patch that changes nothing makes nobody an owner': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', 'merge-patches': 'data: {color: red}', ends: 'unchanged', owners: { A: ['.data.color'] } },
  ],
  'one who updates in turn with another is one manager': [
    { by: 'A', creates: 'data: {n: "1"}' },
    { by: 'B', 'merge-patches': 'data: {m: "1"}' },
    {
      by: 'A',
      'merge-patches': 'data: {o: "1"}',
      owners: { 'A updates': ['.data.n', '.data.o'], 'B updates': ['.data.m'] },
    },
  ],
  'after ten who update, the oldest are put together': [
    { by: 'M', applies: 'data: {m: "1"}' },
    ...Array.from({ length: 12 }, (_, index): Step => {
      return { by: `U${index}`, 'merge-patches': `data: {u${index}: "1"}` };
    }),
    {
      async meanwhile({ server, subject, name }) {
        const { metadata } = await server.admin.must('GET', `${subject.path}/${name}`);
        const managers = metadata.managedFields?.map(({ manager }) => manager) ?? [];
        assert.equal(managers.length, 11, 'M, and ten who update');
        assert.ok(managers.includes('ancient-changes') && managers.includes('M'), managers.join());
      },
    },
  ],
  'what the oldest owned is still owned': [
    ...Array.from({ length: 13 }, (_, index): Step => {
      return index === 0
        ? { by: 'U0', creates: 'data: {u0: "1"}' }
        : { by: `U${index}`, 'merge-patches': `data: {u${index}: "1"}` };
    }),
    {
      by: 'A',
      applies: 'data: {u0: "2"}',
      ends: 'refused',
      naming: ['"ancient-changes" using v1', '.data.u0'],
    },
  ],
});

await tell('an update of what is atomic', clusterRole, {
  'takes all of it': [
    { by: 'A', applies: 'rules: [{apiGroups: [""], resources: [pods, nodes], verbs: [get]}]' },
    {
      by: 'B',
      'json-patches': '[{op: remove, path: /rules/0/resources/1}]',
      owners: { 'B updates': ['.rules'] },
    },
  ],
});
