import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Event } from '../../../../src/api/index.ts';
import { eventKind, toTable } from '../../../../src/api/index.ts';
import type { EventView } from '../../../../src/api/kinds/events/event.ts';
import { eventViewKind } from '../../../../src/api/kinds/events/event.ts';

const view = eventViewKind.storedAs;
assert.ok(view);
const told = (causes: readonly { field: string; message: string }[]) =>
  causes.map(({ field, message }) => `${field}: ${message}`);

/** As writers of the core group have always sent them. */
const older: Event = {
  metadata: { name: 'pod.1', namespace: 'x' },
  involvedObject: { kind: 'Pod', name: 'pod', namespace: 'x', fieldPath: 'spec.containers{app}' },
  reason: 'Started',
  message: ' started app\n',
  source: { component: 'kubelet', host: 'node-a' },
  firstTimestamp: '2025-01-01T00:00:00Z',
  lastTimestamp: '2025-01-01T00:01:00Z',
  count: 3,
  type: 'Normal',
};
/** As writers of events.k8s.io send them. */
const newer: EventView = {
  metadata: { name: 'pod.2', namespace: 'x' },
  eventTime: '2025-01-01T00:00:00.000000Z',
  reportingController: 'example.com/scheduler',
  reportingInstance: 'scheduler-1',
  action: 'Binding',
  reason: 'Scheduled',
  regarding: { kind: 'Pod', name: 'pod', namespace: 'x' },
  note: 'bound to node-a',
  type: 'Normal',
};

describe('an Event of the core group', () => {
  const causes = (change: Partial<Event>) => told(eventKind.validate({ ...older, ...change }, undefined));

  test('may say as little as a name and where it is', () => {
    assert.deepEqual(causes({}), []);
    const { involvedObject } = eventKind.default({ ...older, ...JSON.parse('{"involvedObject":null}') });
    assert.deepEqual(involvedObject, {});
    assert.deepEqual(
      told(eventKind.validate({ metadata: { namespace: 'default' }, involvedObject: {} }, undefined)),
      [],
    );
  });

  test('stands in the namespace of its object, one about the cluster in default', () => {
    const wrong = (shown: string) => [
      `involvedObject.namespace: Invalid value: "${shown}": does not match event.namespace`,
    ];
    assert.deepEqual(causes({ involvedObject: { namespace: 'y' } }), wrong('y'));
    assert.deepEqual(causes({ involvedObject: {} }), wrong(''));
    assert.deepEqual(causes({ involvedObject: {}, metadata: { namespace: 'default' } }), []);
  });

  test('of the newer generation says who reports what', () => {
    const eventTime = '2025-01-01T00:00:00.000000Z';
    assert.deepEqual(causes({ eventTime }), [
      'reportingComponent: Required value',
      'reportingInstance: Required value',
      'action: Required value',
    ]);
    const whole = { eventTime, reportingComponent: 'a/b', reportingInstance: 'c', action: 'd' };
    assert.deepEqual(causes(whole), []);
    assert.deepEqual(causes({ ...whole, involvedObject: { namespace: 'y' } }), [], 'wherever its object is');
    const long = 'x'.repeat(129);
    assert.deepEqual(
      causes({ ...whole, reportingInstance: long, action: long, reason: long, message: 'x'.repeat(1025) }),
      [
        'reportingInstance: Invalid value: "": can have at most 128 characters',
        'action: Invalid value: "": can have at most 128 characters',
        'reason: Invalid value: "": can have at most 128 characters',
        'message: Invalid value: "": can have at most 1024 characters',
      ],
    );
    assert.match(
      causes({ ...whole, reportingComponent: 'a b' }).join(),
      /^reportingComponent: Invalid value: "a b"/,
    );
  });

  test('may be changed in any way', () => {
    assert.deepEqual(told(eventKind.validate({ ...older, reason: 'Other', count: 4 }, older)), []);
  });
});

describe('an Event of events.k8s.io', () => {
  const causes = (change: Partial<EventView>) =>
    told(eventViewKind.validate({ ...newer, ...change }, undefined));
  const without = (name: keyof EventView) => {
    const { [name]: _left, ...rest } = newer;
    return told(eventViewKind.validate(rest, undefined));
  };

  test('says when, of which type, who reports and what was done', () => {
    assert.deepEqual(causes({}), []);
    assert.deepEqual(without('eventTime'), ['eventTime: Required value']);
    assert.deepEqual(without('type'), ['type: Invalid value: "": has invalid value: ']);
    for (const name of ['reportingController', 'reportingInstance', 'action', 'reason'] as const)
      assert.deepEqual(without(name), [`${name}: Required value`]);
  });

  test('uses nothing of the older generation, and its own names for what is wrong', () => {
    assert.deepEqual(
      causes({
        deprecatedCount: 1,
        deprecatedFirstTimestamp: '2025-01-01T00:00:00Z',
        deprecatedLastTimestamp: '2025-01-01T00:00:00Z',
        deprecatedSource: { host: 'a' },
        note: 'x'.repeat(1025),
        regarding: {},
      }),
      [
        'regarding.namespace: Invalid value: "": does not match event.namespace',
        'note: Invalid value: "": can have at most 1024 characters',
        'deprecatedFirstTimestamp: Invalid value: "": needs to be unset',
        'deprecatedLastTimestamp: Invalid value: "": needs to be unset',
        'deprecatedCount: Invalid value: "": needs to be unset',
        'deprecatedSource: Invalid value: "": needs to be unset',
      ],
    );
  });

  test('goes on as a series, and changes in nothing else', () => {
    const series = { count: 2, lastObservedTime: newer.eventTime ?? '' };
    assert.deepEqual(told(eventViewKind.validate({ ...newer, series }, newer)), []);
    assert.deepEqual(told(eventViewKind.validate({ ...newer, series: { count: 1 } }, newer)), [
      'series.count: Invalid value: "": should be at least 2',
      'series.lastObservedTime: Required value',
    ]);
    assert.deepEqual(told(eventViewKind.validate({ ...newer, note: 'other', action: 'Other' }, newer)), [
      'note: Invalid value: "other": field is immutable',
      'action: Invalid value: "Other": field is immutable',
    ]);
  });

  test('may be one of the older generation that is left as it is', () => {
    const shown = view.from(older);
    assert.deepEqual(
      told(eventViewKind.validate({ ...shown, metadata: { ...older.metadata, labels: { a: 'b' } } }, shown)),
      [],
    );
  });
});

describe('the two shapes of an Event', () => {
  const text = fc.string({ maxLength: 5 });
  const time = fc.constantFrom('2025-01-01T00:00:00Z', '2026-02-03T04:05:06Z');
  const microTime = fc.constantFrom('2025-01-01T00:00:00.000000Z', '2026-02-03T04:05:06.123456Z');
  const reference = fc.record({ kind: text, name: text, namespace: text, uid: text }, { requiredKeys: [] });
  const series = fc.record({ count: fc.nat(), lastObservedTime: microTime }, { requiredKeys: [] });
  const source = fc.record({ component: text, host: text }, { requiredKeys: [] });
  const metadata = fc.record({ name: text, namespace: text, resourceVersion: text }, { requiredKeys: [] });
  const shared = {
    apiVersion: text,
    kind: fc.constant('Event'),
    metadata,
    eventTime: microTime,
    series,
    reportingInstance: text,
    action: text,
    reason: text,
    related: reference,
    type: text,
  };
  const stored = fc.record(
    {
      ...shared,
      involvedObject: reference,
      message: text,
      source,
      firstTimestamp: time,
      lastTimestamp: time,
      count: fc.nat(),
      reportingComponent: text,
    },
    { requiredKeys: ['involvedObject'], noNullPrototype: true },
  );
  const shown = fc.record(
    {
      ...shared,
      regarding: reference,
      note: text,
      deprecatedSource: source,
      deprecatedFirstTimestamp: time,
      deprecatedLastTimestamp: time,
      deprecatedCount: fc.nat(),
      reportingController: text,
    },
    { requiredKeys: ['regarding'], noNullPrototype: true },
  );

  test('are the same: what is stored comes back from being shown', () => {
    fc.assert(fc.property(stored, (event) => assert.deepEqual(view.to(view.from(event)), event)));
  });

  test('are the same: what is shown comes back from being stored', () => {
    fc.assert(fc.property(shown, (event) => assert.deepEqual(view.from(view.to(event)), event)));
  });

  test('have a field each for every field of the other', () => {
    const names = ({ fields }: { fields: object }) => Object.keys(fields).sort();
    const filled = (root: { fields: object }) => JSON.parse(JSON.stringify(root.fields));
    assert.deepEqual(Object.keys(view.from(filled(eventKind.root))).sort(), names(eventViewKind.root));
    assert.deepEqual(Object.keys(view.to(filled(eventViewKind.root))).sort(), names(eventKind.root));
  });

  test('have the same columns', () => {
    const options = {
      groupSuffix: 'k8s.io',
      include: 'None',
      now: Date.UTC(2025, 0, 1, 0, 10),
      headers: true,
    } as const;
    const table = toTable(eventKind, [older], {}, options);
    assert.deepEqual(
      table.columnDefinitions?.filter(({ priority }) => priority === 0).map(({ name }) => name),
      ['Last Seen', 'Type', 'Reason', 'Object', 'Message'],
    );
    assert.deepEqual(table.rows[0]?.cells, [
      ...['9m', 'Normal', 'Started', 'pod/pod', 'spec.containers{app}', 'kubelet, node-a', 'started app'],
      ...['10m', 3, 'pod.1'],
    ]);
    assert.deepEqual(toTable(eventViewKind, [view.from(older)], {}, options).rows, table.rows);
    assert.deepEqual(toTable(eventViewKind, [newer], {}, options).rows[0]?.cells, [
      ...[
        '10m',
        'Normal',
        'Scheduled',
        'pod/pod',
        '',
        'example.com/scheduler, scheduler-1',
        'bound to node-a',
      ],
      ...['10m', 1, 'pod.2'],
    ]);
    const series = { count: 7, lastObservedTime: '2025-01-01T00:09:30.000000Z' };
    const cells = toTable(eventViewKind, [{ ...newer, series }], {}, options).rows[0]?.cells ?? [];
    assert.deepEqual([cells[0], cells[7], cells[8]], ['30s', '10m', 7]);
  });

  test('are selected by names of their own', () => {
    const select = (kind: typeof eventKind | typeof eventViewKind, event: Event & EventView) =>
      Object.fromEntries(kind.selectable.map(({ path, value }) => [path, value(event)]));
    const event = { ...older, ...newer };
    assert.deepEqual(select(eventKind, event)['involvedObject.fieldPath'], 'spec.containers{app}');
    assert.equal(select(eventKind, event)['source'], 'kubelet');
    assert.equal(select(eventKind, { ...event, source: {}, reportingComponent: 'r' })['source'], 'r');
    assert.equal(select(eventViewKind, event)['reportingController'], 'example.com/scheduler');
    assert.equal(select(eventViewKind, event)['regarding.name'], 'pod');
    assert.deepEqual(Object.keys(select(eventViewKind, event)).sort(), [
      ...['reason', 'regarding.apiVersion', 'regarding.fieldPath', 'regarding.kind', 'regarding.name'],
      ...['regarding.namespace', 'regarding.resourceVersion', 'regarding.uid', 'reportingController', 'type'],
    ]);
  });
});
