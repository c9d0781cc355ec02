import assert from 'node:assert/strict';
import type { Place } from './story.ts';
import { tell } from './story.ts';
import { configMap, event, pod } from './subjects.ts';

async function managers({ server, subject, name }: Place, path = subject.path) {
  return (await server.admin.must('GET', `${path}/${name}`)).metadata.managedFields ?? [];
}

const occurrence = `{
  eventTime: "2026-01-01T00:00:00.000000Z", reportingController: example.com/c, reportingInstance: c-1,
  action: Test, reason: Tested, type: Normal,
  regarding: {kind: Pod, namespace: default, name: p}, note: it went well}`;

await tell('an object with two versions', event, {
  'is owned in the version in which it was written, and shown so in both': [
    { by: 'A', applies: occurrence, ends: 'created' },
    {
      async meanwhile(place) {
        for (const path of [event.path, '/api/v1/namespaces/default/events']) {
          const [entry] = await managers(place, path);
          assert.equal(entry?.apiVersion, 'events.k8s.io/v1');
          assert.ok('f:regarding' in (entry.fieldsV1 ?? {}), 'in the words of that version');
        }
      },
    },
    { by: 'A', applies: occurrence, ends: 'unchanged' },
  ],
});

const lost = (field: string) =>
  `metadata: {managedFields: [{manager: A, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:color": {}}, "f:${field}": {}}}]}`;

await tell('a version that has lost a field since it was applied', configMap, {
  'can be applied to: the field is forgotten': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'any', replaces: lost('pattern'), owners: { A: ['.data.color', '.pattern'] } },
    { by: 'A', applies: 'data: {color: blue}', ends: 'changed', owners: { A: ['.data.color'] } },
  ],
  'can be updated': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'any', replaces: lost('pattern') },
    {
      by: 'B',
      'merge-patches': 'data: {size: big}',
      owners: { A: ['.data.color'], 'B updates': ['.data.size'] },
    },
  ],
});

await tell('names that are hard to write', pod, {
  'an item whose key has a quote in it is found again': [
    {
      by: 'A',
      applies: `spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: web, image: "nginx:1",
        volumeMounts: [{name: v, mountPath: '/a"b'}, {name: v, mountPath: '/a<b'}]}]}`,
      ends: 'created',
    },
    { by: 'B', replaces: 'metadata: {labels: null}', ends: 'unchanged' },
    {
      by: 'B',
      applies: `spec: {containers: [{name: web, volumeMounts: [{mountPath: '/a"b', name: w}]}]}`,
      ends: 'refused',
      naming: [String.raw`.spec.containers[name="web"].volumeMounts[mountPath="/a\"b"].name`],
    },
  ],
});
