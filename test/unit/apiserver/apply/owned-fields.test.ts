import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { startServer } from '../support/index.ts';
import { findMissingFields } from './missing-fields.ts';
import type { Subject } from './story.ts';
import { node, pod } from './subjects.ts';

/*
 * Nobody manages what is not there, whatever was written, by whom and through which path, and whatever of it the server
 * has passed over. Zeros are not written here: who applies one manages it although it is not stored, as in the reference.
 */

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

type Json = Readonly<Record<string, unknown>>;

const word = fc.constantFrom('a', 'b', 'c');
const some = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] });
const upTo = (of: fc.Arbitrary<unknown>, key = 'name') =>
  fc.uniqueArray(of, { minLength: 1, maxLength: 2, comparator: (a, b) => keyOf(a, key) === keyOf(b, key) });

function keyOf(item: unknown, key: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, key) : item;
}

/** They are there: what belongs to nothing is collected. */
const owners = await Promise.all(
  ['a', 'b'].map(async (name) => {
    const { metadata } = await server.admin.must('POST', node.path, { metadata: { name } });
    return { apiVersion: node.apiVersion, kind: node.kind, name, uid: metadata.uid };
  }),
);
const owner = fc.constantFrom(...owners);

const metadata = some({
  labels: fc.dictionary(word, word, { minKeys: 1 }),
  annotations: fc.dictionary(word, word, { minKeys: 1 }),
  finalizers: upTo(fc.constantFrom('x/a', 'x/b')),
  ownerReferences: upTo(owner, 'uid'),
  generateName: word,
});

const conditions = upTo(
  fc.record({ type: fc.constantFrom('Ready', 'PodScheduled'), status: fc.constant('True'), reason: word }),
  'type',
);
const container = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      image: word,
      resizePolicy: fc.constant([{ resourceName: 'cpu', restartPolicy: 'NotRequired' }]),
      env: upTo(fc.record({ name: word, value: word })),
    },
    { requiredKeys: ['name', 'image'] },
  );

const podFields = some({
  metadata,
  spec: fc.record(
    {
      containers: fc.tuple(container('main')),
      ephemeralContainers: fc.tuple(container('debug')),
      nodeName: word,
      activeDeadlineSeconds: fc.constant(60),
      tolerations: upTo(fc.record({ key: word, operator: fc.constant('Exists') }), 'key'),
    },
    { requiredKeys: ['containers'] },
  ),
  status: some({
    phase: fc.constantFrom('Pending', 'Running'),
    conditions,
    podIP: fc.constantFrom('10.0.0.1', '10.0.0.2'),
    podIPs: upTo(fc.record({ ip: fc.constantFrom('10.0.0.1', '10.0.0.2') }), 'ip'),
    qosClass: fc.constantFrom('BestEffort', 'Burstable'),
  }),
});

const nodeFields = some({
  metadata,
  spec: some({
    unschedulable: fc.constant(true),
    podCIDR: fc.constant('10.1.0.0/24'),
    podCIDRs: fc.constant(['10.1.0.0/24']),
    providerID: word,
    taints: upTo(fc.record({ key: word, effect: fc.constant('NoSchedule') }), 'key'),
  }),
  status: some({
    phase: fc.constant('Running'),
    conditions,
    addresses: upTo(fc.record({ type: fc.constant('InternalIP'), address: fc.constant('10.0.0.1') }), 'type'),
    capacity: fc.dictionary(word, fc.constantFrom('1', '2'), { minKeys: 1 }),
  }),
});

const types = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  replace: 'application/json',
  bind: 'application/json',
} as const;

interface Write {
  how: keyof typeof types;
  by: string;
  through: string;
  force: boolean;
  fields: Json;
}

const writes = (through: readonly string[], fields: fc.Arbitrary<Json>): fc.Arbitrary<Write[]> =>
  fc.array(
    fc.record({
      how: fc.constantFrom('apply', 'apply', 'apply', 'merge', 'strategic', 'replace', 'bind'),
      by: fc.constantFrom('A', 'B', 'kubectl'),
      through: fc.constantFrom(...through),
      force: fc.boolean(),
      fields,
    }),
    { minLength: 1, maxLength: 8 },
  );

let made = 0;

/** Writes a new object in this order; tells how many of the writes succeeded. */
async function play(subject: Subject, first: Json, steps: readonly Write[]): Promise<number> {
  const { apiVersion, kind, path } = subject;
  made += 1;
  const name = `owned-${made}`;
  const whole = (fields: Json) => ({
    apiVersion,
    kind,
    ...fields,
    metadata: { ...(typeof fields['metadata'] === 'object' ? fields['metadata'] : {}), name },
  });
  const start = {
    ...first,
    ...(kind === 'Pod' ? { spec: { containers: [{ name: 'main', image: 'a' }] } } : {}),
  };
  const creates = made % 2 === 0 ? ['POST', path] : ['PATCH', `${path}/${name}`];
  const [method = '', target] = creates;
  const type = method === 'POST' ? types.replace : types.apply;
  const reply = await server.admin.request(method, `${target}?fieldManager=A`, {
    body: whole(start),
    headers: { 'content-type': type },
  });
  assert.ok(reply.code === 201, reply.text);
  let done = 0;
  for (const step of steps) {
    if (await write(step)) done++;
    const now = await server.admin.must('GET', `${path}/${name}`);
    assert.deepEqual(findMissingFields(now), [], `after ${JSON.stringify(step)}`);
  }
  return done;

  async function write({ how, by, through, force, fields }: Write): Promise<boolean> {
    const forced = how === 'apply' && force ? '&force=true' : '';
    const at = `${path}/${name}${how === 'bind' ? '/binding' : through}?fieldManager=${by}${forced}`;
    const now = how === 'replace' ? await server.admin.must('GET', `${path}/${name}`) : undefined;
    const body =
      how === 'bind'
        ? {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name, labels: { a: 'bound' } },
            target: { name: 'n' },
          }
        : how === 'merge' || how === 'strategic'
          ? fields
          : { ...whole(fields), ...(now && { metadata: { ...now.metadata, ...whole(fields).metadata } }) };
    const verb = how === 'replace' ? 'PUT' : how === 'bind' ? 'POST' : 'PATCH';
    const answer = await server.admin.request(verb, at, { body, headers: { 'content-type': types[how] } });
    assert.ok(answer.code < 500, answer.text);
    return answer.code < 300;
  }
}

describe('every field that somebody manages is there', () => {
  for (const [subject, fields, through] of [
    [pod, podFields, ['', '', '/status', '/ephemeralcontainers']],
    [node, nodeFields, ['', '/status']],
  ] as const) {
    test(`of a ${subject.kind}`, async () => {
      let done = 0;
      await fc.assert(
        fc.asyncProperty(fields, writes(through, fields), async (first, steps) => {
          done += await play(subject, first, steps);
        }),
        { numRuns: 60 },
      );
      assert.ok(done > 60, `${done} writes are not refused`);
    });
  }
});
