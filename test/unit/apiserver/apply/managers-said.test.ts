import assert from 'node:assert/strict';
import type { Place } from './story.ts';
import { tell } from './story.ts';
import { configMap, node } from './subjects.ts';

const entry = (manager: string, fields: string, more = '') =>
  `{manager: ${manager}, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": ${fields}}${more}}`;
const withManagers = (...entries: string[]) => `metadata: {managedFields: [${entries.join(', ')}]}`;

async function managersShown({ server, subject, name }: Place) {
  return (await server.admin.must('GET', `${subject.path}/${name}`)).metadata.managedFields;
}

await tell('what a client says of managers', configMap, {
  'an empty list forgets them all, and none is shown': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', replaces: 'metadata: {managedFields: []}', ends: 'changed', owners: {} },
    { meanwhile: async (place) => assert.equal(await managersShown(place), undefined) },
  ],
  'a list with one empty entry says the same': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', replaces: 'metadata: {managedFields: [{}]}', ends: 'changed', owners: {} },
  ],
  'a merge patch can forget them': [
    { by: 'A', applies: 'data: {color: red}' },
    { by: 'B', 'merge-patches': 'metadata: {managedFields: []}', owners: {} },
  ],
  'a JSON Patch can forget them': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      'json-patches': '[{op: replace, path: /metadata/managedFields, value: []}]',
      owners: {},
    },
  ],
  'a null says nothing, so they stay': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      'merge-patches': 'metadata: {managedFields: null}',
      ends: 'unchanged',
      owners: { A: ['.data.color'] },
    },
  ],
  'a PUT without them says nothing, so they stay': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      replaces: 'metadata: {managedFields: null}',
      ends: 'unchanged',
      owners: { A: ['.data.color'] },
    },
  ],
  'once they are forgotten, what was there is first of all somebody before, and free to be shared': [
    { by: 'A', applies: 'data: {color: red, size: big}' },
    { by: 'B', replaces: 'metadata: {managedFields: []}' },
    {
      by: 'A',
      applies: 'data: {color: red}',
      object: 'data: {color: red, size: big}',
      owners: { A: ['.data.color'], 'before-first-apply updates': ['.data.color', '.data.size'] },
    },
    { by: 'A', applies: 'data: {color: blue}', ends: 'refused', naming: ['"before-first-apply"'] },
  ],
  'other managers replace those that were known': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      replaces: withManagers(entry('Z', '{"f:color": {}}')),
      ends: 'changed',
      owners: { 'Z updates': ['.data.color'] },
    },
  ],
  'and what the same PUT changes is its sender’s nevertheless': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      replaces: `{data: {color: red, size: big}, ${withManagers(entry('Z', '{"f:color": {}}'))}}`,
      owners: { 'B updates': ['.data.size'], 'Z updates': ['.data.color'] },
    },
  ],
  'another time alone is no change': [
    { by: 'A', creates: 'data: {color: red}' },
    {
      by: 'A',
      replaces: withManagers(entry('A', '{".": {}, "f:color": {}}', ', time: "2001-01-01T00:00:00Z"')),
      ends: 'unchanged',
    },
  ],
  'an entry that cannot be is refused with its path': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      replaces: 'metadata: {managedFields: [{manager: Z, operation: Steal, apiVersion: v1}]}',
      ends: 'invalid',
      naming: [
        'metadata.managedFields[0].operation: Unsupported value: "Steal": supported values: "Apply", "Update"',
      ],
    },
    {
      by: 'B',
      replaces: 'metadata: {managedFields: [{manager: Z, operation: Apply, fieldsType: FieldsV2}]}',
      ends: 'invalid',
      naming: ['metadata.managedFields[0].fieldsType'],
      owners: { A: ['.data.color'] },
    },
  ],
  'a set of fields that cannot be read is passed over': [
    { by: 'A', applies: 'data: {color: red}' },
    {
      by: 'B',
      replaces: withManagers(entry('Z', '{"what is this": {}}')),
      ends: 'unchanged',
      owners: { A: ['.data.color'] },
    },
  ],
  'whoever applies says nothing of managers': [
    {
      by: 'A',
      applies: 'metadata: {managedFields: []}',
      ends: 'malformed',
      naming: ['metadata.managedFields must be nil'],
    },
    { by: 'A', applies: withManagers(entry('Z', '{}')), ends: 'malformed' },
  ],
});

await tell('through a subresource', node, {
  'what a client says of managers is passed over': [
    { by: 'A', applies: 'spec: {externalID: one}' },
    {
      by: 'B',
      through: 'status',
      'merge-patches': '{metadata: {managedFields: []}, status: {phase: Running}}',
      owners: { A: ['.spec.externalID'], 'B updates through status': ['.status.phase'] },
    },
  ],
});
