import { tell } from './story.ts';
import { configMap, pod } from './subjects.ts';

await tell('what is not in order', configMap, {
  'nobody’s apply': [
    {
      applies: 'data: {color: red}',
      ends: 'invalid',
      naming: ['fieldManager: Required value: is required for apply patch'],
    },
  ],
  'a name that is none': [
    { by: 'A'.repeat(129), applies: '{}', ends: 'invalid', naming: ['fieldManager: Too long'] },
    { by: 'a\tb', applies: '{}', ends: 'invalid', naming: ['fieldManager: Invalid value'] },
  ],
  'a field that there is not: a warning, unless told otherwise': [
    {
      by: 'A',
      applies: '{data: {color: red}, date: {}}',
      ends: 'created',
      warning: ['unknown field "date"'],
      owners: { A: ['.data.color'] },
    },
    { by: 'A', applies: '{data: {color: red}, date: {}}', validation: 'Ignore', ends: 'unchanged' },
    {
      by: 'A',
      applies: '{data: {color: red}, date: {}}',
      validation: 'Strict',
      ends: 'malformed',
      naming: ['unknown field "date"'],
    },
  ],
  'a field that is there twice': [
    {
      by: 'A',
      'applies in full': 'apiVersion: v1\nkind: ConfigMap\ndata:\n  color: red\n  color: blue\n',
      validation: 'Strict',
      ends: 'malformed',
      naming: ['duplicate field'],
    },
    {
      by: 'A',
      'applies in full': '{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "a": "2"}}',
      ends: 'created',
      warning: ['duplicate field "data.a"'],
    },
  ],
  'a value of another type': [
    { by: 'A', applies: 'data: [red]', ends: 'malformed', naming: ['data: expected a map, found a list'] },
    { by: 'A', applies: 'data: {n: 1}', ends: 'malformed', naming: ['data.n: expected a string'] },
  ],
  'no type': [
    { by: 'A', 'applies in full': 'kind: ConfigMap', ends: 'malformed', naming: ['apiVersion'] },
    { by: 'A', 'applies in full': 'apiVersion: v1', ends: 'malformed', naming: ['kind'] },
  ],
  'the wrong type': [
    { by: 'A', 'applies in full': '{apiVersion: v1, kind: Secret}', ends: 'malformed', naming: ['"Secret"'] },
    { by: 'A', 'applies in full': '{apiVersion: v2, kind: ConfigMap}', ends: 'malformed', naming: ['"v2"'] },
  ],
  'another name than the path has': [
    {
      by: 'A',
      applies: 'metadata: {name: other}',
      ends: 'malformed',
      naming: ['the name of the object (other) does not match the name on the URL'],
    },
  ],
  'another namespace than the path has': [
    {
      by: 'A',
      applies: 'metadata: {namespace: other}',
      ends: 'malformed',
      naming: ['the namespace of the provided object does not match'],
    },
  ],
  'no name at all is the name in the path': [
    { by: 'A', 'applies in full': '{apiVersion: v1, kind: ConfigMap, data: {a: b}}', ends: 'created' },
  ],
  'no YAML': [
    { by: 'A', 'applies in full': '{a: [', ends: 'malformed' },
    { by: 'A', 'applies in full': 'just a text', ends: 'malformed' },
    { by: 'A', 'applies in full': '', ends: 'malformed' },
    { by: 'A', 'applies in full': '[]', ends: 'malformed' },
  ],
  'nulls: what is null is taken away, and owned': [
    { by: 'A', creates: 'immutable: false' },
    { by: 'A', applies: 'immutable: null', ends: 'refused', naming: ['.immutable'] },
    {
      by: 'A',
      applies: 'immutable: null',
      force: true,
      object: 'immutable: null',
      owners: { A: ['.immutable'] },
    },
  ],
  'empty maps: nothing is in them, and nothing is shown': [
    { by: 'A', applies: 'data: {}', ends: 'created', object: 'data: null', owners: { A: ['.data'] } },
    { by: 'A', applies: 'data: {}', ends: 'unchanged' },
  ],
  'server fields written out as clients do': [
    {
      by: 'A',
      applies: 'metadata: {creationTimestamp: null, resourceVersion: "", uid: "", namespace: ""}',
      ends: 'created',
    },
    { by: 'A', applies: 'metadata: {creationTimestamp: null, resourceVersion: "0"}', ends: 'unchanged' },
  ],
});

await tell('a configuration that is in order by itself', pod, {
  'can make something that is not: the whole is looked at': [
    { by: 'A', applies: 'spec: {containers: [{name: web, image: "nginx:1"}]}' },
    {
      by: 'B',
      applies: 'spec: {containers: [{name: side, image: "side:1"}]}',
      ends: 'invalid',
      naming: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    },
  ],
});
