import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseFieldSelector, parseLabelSelector } from '../../../../../src/api/index.ts';
import { eventViewKind } from '../../../../../src/api/kinds/events/event.ts';
import { podKind } from '../../../../../src/api/kinds/pods/pod.ts';
import { SharedReads } from '../../../../../src/apiserver/handlers/index.ts';
import { listMatcher, watchMatcher } from '../../../../../src/apiserver/handlers/read/match-stored.ts';
import { objectEncoding } from '../../../../../src/apiserver/registry/encoding.ts';

const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('a', 'b'), {
  noNullPrototype: true,
});
const metadata = fc.record(
  { name: fc.constantFrom('x', 'y"z'), labels, annotations: fc.constant({ a: '"labels":{"app":"a"}' }) },
  { requiredKeys: ['name'], noNullPrototype: true },
);
const labelText = fc.constantFrom('', 'app=a', 'app!=a', 'app in (a,b),tier', '!tier', 'nobody=has');
const spec = fc.constantFrom('here', '').map((nodeName) => ({ containers: [], nodeName }));
const podFields = fc.constantFrom('', 'spec.nodeName=here', 'metadata.name!=x', 'status.phase=Running');

function selectorsOf(kind: Parameters<typeof parseFieldSelector>[0], labelsText: string, fieldsText: string) {
  const fields = parseFieldSelector(kind, fieldsText);
  const isByLabels = fields.requirements.length === 0;
  return { labels: parseLabelSelector(labelsText), fields, isByLabels, exact: fields.exact };
}

describe('objects that are selected without parsing them are those that parsing selects', () => {
  test('in lists and in watches, whoever has written them', () => {
    const encoding = objectEncoding(podKind, 'k8s.io');
    const property = fc.property(
      metadata,
      spec,
      labelText,
      podFields,
      fc.boolean(),
      (meta, of, byLabels, byFields, isForeign) => {
        const own = encoding.encode({ metadata: meta, spec: of });
        const value = isForeign ? Buffer.from(JSON.stringify(JSON.parse(own.toString()), undefined, 2)) : own;
        const stored = { key: '/registry/pods/default/x', revision: 3, createRevision: 3, value };
        const selectors = selectorsOf(podKind, byLabels, byFields);
        const object = encoding.read(stored);
        const isSelected = selectors.labels.matches(object) && selectors.fields.matches(object);

        assert.equal(listMatcher({ encoding }, selectors)(stored), isSelected);
        const watch = watchMatcher({ encoding }, selectors, new SharedReads());
        assert.deepEqual([watch(stored), watch(stored)], [isSelected, isSelected]);
      },
    );
    fc.assert(property, { numRuns: 1000 });
  });

  test('where what is shown is a view of what is stored', () => {
    const encoding = objectEncoding(eventViewKind, 'k8s.io');
    const value = encoding.encode({
      metadata: { name: 'e', labels: { app: 'a' } },
      regarding: {},
      reason: 'R',
    });
    const stored = { key: '/registry/events/default/e', revision: 3, createRevision: 3, value };
    for (const [byLabels, byFields, isSelected] of [
      ['app=a', 'reason=R', true],
      ['app=b', 'reason=R', false],
      ['app=a', 'reason=S', false],
    ] as const) {
      const selectors = selectorsOf(eventViewKind, byLabels, byFields);
      assert.equal(listMatcher({ encoding }, selectors)(stored), isSelected);
      assert.equal(watchMatcher({ encoding }, selectors, new SharedReads())(stored), isSelected);
    }
  });

  test('and many watchers of labels read those of an event once', async () => {
    const encoding = objectEncoding(podKind, 'k8s.io');
    const value = encoding.encode({
      metadata: { name: 'x', labels: { app: 'a' } },
      spec: { containers: [] },
    });
    let looks = 0;
    const counted = {
      encoding: {
        ...encoding,
        metadataAt: (stored: Parameters<typeof encoding.metadataAt>[0]) => {
          looks += 1;
          return encoding.metadataAt(stored);
        },
        read: () => assert.fail('no object is parsed'),
      },
    };
    const stored = { key: '/registry/pods/default/x', revision: 3, createRevision: 3, value };
    const reads = new SharedReads();
    for (let index = 0; index < 100; index += 1) {
      watchMatcher(counted, selectorsOf(podKind, `app=a${index}`, ''), reads)(stored);
    }
    assert.equal(looks, 1);
  });
});
