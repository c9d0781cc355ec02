import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseLabelSelector, readStoredLabels } from '../../../../src/api/selectors/index.ts';

const opening = '{"kind":"Pod","apiVersion":"v1","metadata":';
const at = opening.length;

const key = fc.constantFrom('app', 'tier', 'example.com/app', 'ap', 'labels', '0', 'a.b-c_d');
const value = fc.oneof(
  fc.constantFrom('', 'a', 'b', '7', '10', '007', 'é', 'a"b'),
  fc.string({ maxLength: 6 }),
);
const labels = fc.option(fc.dictionary(key, value, { noNullPrototype: true }), { nil: undefined });
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('"labels":{"app":"a"}'), fc.constant('\\'));
const others = fc.record(
  {
    name: text,
    annotations: fc.dictionary(fc.oneof(key, text), text, { noNullPrototype: true }),
    finalizers: fc.array(text),
    generation: fc.integer(),
    ownerReferences: fc.array(fc.record({ labels: fc.dictionary(key, value, { noNullPrototype: true }) })),
    managedFields: fc.array(fc.record({ fieldsV1: fc.constant({ 'f:labels': { 'f:app': {} } }) })),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const metadata = fc.tuple(others, labels, fc.nat(6)).map(([rest, some, place]) => {
  const entries: [string, unknown][] = Object.entries(rest);
  if (some !== undefined) entries.splice(place, 0, ['labels', some]);
  return Object.fromEntries(entries);
});
const requirement = fc.oneof(
  fc
    .tuple(key, fc.constantFrom('=', '==', '!='), fc.constantFrom('', 'a', 'b', '7'))
    .map((parts) => parts.join('')),
  fc.tuple(key, fc.constantFrom(' in (a,b)', ' notin (a,7)', ' in (,b)')).map((parts) => parts.join('')),
  fc.tuple(key, fc.constantFrom('>8', '<8')).map((parts) => parts.join('')),
  key,
  key.map((name) => `!${name}`),
);
const selector = fc.array(requirement, { maxLength: 3 }).map((terms) => terms.join(','));

describe('a label selector, held against the labels in stored bytes', () => {
  it('selects what it selects of parsed objects, for any selector and any object', () => {
    const property = fc.property(metadata, selector, fc.boolean(), (some, selects, isAll) => {
      const json = Buffer.from(`${opening}${JSON.stringify(some)},"spec":{"labels":{"app":"a"}}}`);
      const parsed = parseLabelSelector(selects);

      const found = readStoredLabels(json, at, isAll ? undefined : parsed.keys);

      const object: { metadata: { labels?: Record<string, string> } } = JSON.parse(json.toString());
      if (found === undefined) assert.ok(json.includes('\\'), 'only escapes need the parser');
      else assert.equal(parsed.matchesLabels(found), parsed.matches(object));
      if (found !== undefined && isAll) assert.deepEqual({ ...found }, object.metadata.labels ?? {});
    });
    fc.assert(property, { numRuns: 3000 });
  });

  const left = [
    '{ "labels":{"app":"a"}}',
    '{"labels" :{"app":"a"}}',
    String.raw`{"\u006cabels":{"app":"a"}}`,
    String.raw`{"labels":{"a\u0070p":"a"}}`,
    '{"labels":{"app":1}}',
    '{"labels":["app"]}',
    '{"labels":{"app":"a"',
    '{"name":"a"',
    '[]',
    '',
  ];
  for (const json of left) {
    it(`leaves to the parser what this program does not write: ${json}`, () => {
      assert.equal(readStoredLabels(Buffer.from(`${opening}${json}`), at), undefined);
    });
  }

  it('takes labels that are null for none', () => {
    assert.deepEqual(readStoredLabels(Buffer.from(`${opening}{"labels":null,"name":"a"}}`), at), {});
  });
});
