import assert from 'node:assert/strict';
import type { Place } from './story.ts';
import { tell } from './story.ts';
import { configMap } from './subjects.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** As `kubectl apply` writes an object: with what it was told in an annotation. */
function byClient(data: object, lastApplied: object = data): string {
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { annotations: {} }, data: lastApplied };
  return JSON.stringify({ metadata: { annotations: { [annotation]: JSON.stringify(applied) } }, data });
}

async function lastApplied({ server, subject, name }: Place): Promise<unknown> {
  const { metadata } = await server.admin.must('GET', `${subject.path}/${name}`);
  return JSON.parse(metadata.annotations?.[annotation] ?? '{}');
}

const clientSide = 'kubectl-client-side-apply';

await tell('from client-side to server-side apply', configMap, {
  'kubectl takes over what it applied before, without a conflict': [
    { by: clientSide, creates: byClient({ color: 'red', size: 'big' }) },
    { by: 'kubectl', applies: 'data: {color: blue, size: big}', ends: 'changed' },
  ],
  'the annotation tells then what was applied last': [
    { by: clientSide, creates: byClient({ color: 'red' }) },
    { by: 'kubectl', applies: 'data: {color: blue}' },
    {
      async meanwhile(place) {
        const { name } = place;
        const data = { color: 'blue' };
        assert.deepEqual(await lastApplied(place), {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name },
          data,
        });
      },
    },
  ],
  'what somebody else has changed since is a conflict': [
    { by: clientSide, creates: byClient({ color: 'red' }) },
    { by: 'B', 'merge-patches': 'data: {color: green}' },
    { by: 'kubectl', applies: 'data: {color: blue}', ends: 'refused', naming: ['"B" using v1'] },
  ],
  'under any other name nothing is taken over': [
    { by: clientSide, creates: byClient({ color: 'red' }) },
    { by: 'A', applies: 'data: {color: blue}', ends: 'refused', naming: [`"${clientSide}" using v1`] },
  ],
  'an annotation that cannot be read forgives nothing': [
    { by: clientSide, creates: `{metadata: {annotations: {${annotation}: "{"}}, data: {color: red}}` },
    { by: 'kubectl', applies: 'data: {color: blue}', ends: 'refused' },
  ],
  'an object without the annotation gets none': [
    { by: 'kubectl', applies: 'data: {color: red}', object: 'metadata: {annotations: null}' },
  ],
  // what kubectl itself does before its first server-side apply: it renames its entry
  'whoever renames the entry of the old manager, goes on in its place': [
    { by: clientSide, creates: 'data: {color: red, size: big}' },
    {
      by: 'any',
      'json-patches':
        '[{op: replace, path: /metadata/managedFields/0/manager, value: kubectl}, {op: replace, path: /metadata/managedFields/0/operation, value: Apply}]',
      ends: 'changed',
      owners: { kubectl: ['.data.color', '.data.size'] },
    },
    {
      by: 'kubectl',
      applies: 'data: {color: red}',
      object: 'data: {color: red}',
      owners: { kubectl: ['.data.color'] },
    },
  ],
});
