import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Shown } from '../../support/index.ts';
import { named, objectIn } from '../../support/index.ts';
import { dataOf, patchLab, warningsOf } from '../patch-request.ts';

const lab = await patchLab();
const { admin, patch, maps, map, assertUntouched } = lab;

describe('the parameters of a patch', () => {
  test('dryRun answers as if, and keeps nothing', async () => {
    const bodies = { json: [{ op: 'add', path: '/data/x', value: '1' }], merge: { data: { x: '1' } } };
    for (const [sort, body] of [
      ['json', bodies.json],
      ['merge', bodies.merge],
      ['strategic', bodies.merge],
    ] as const) {
      const tried = await patch.must(sort, `${map}?dryRun=All`, body);
      assert.deepEqual(dataOf(tried), { a: '1', b: '2', x: '1' });
      await assertUntouched();
    }
    await patch.refused('Invalid', 'merge', `${map}?dryRun=All`, { data: 7 });
    await patch.refused('Conflict', 'merge', `${map}?dryRun=All`, { metadata: { resourceVersion: '1' } });
    await patch.refused('NotFound', 'merge', `${maps}/nobody?dryRun=All`, {});
    await patch.refused('Invalid', 'merge', `${map}?dryRun=Some`, {});
  });

  test('force is for apply only', async () => {
    for (const sort of ['json', 'merge', 'strategic'] as const) {
      for (const force of ['force=true', 'force=false', 'force']) {
        const { details } = await patch.refused(
          'Invalid',
          sort,
          `${map}?${force}`,
          sort === 'json' ? [] : {},
        );
        assert.deepEqual(details?.causes, [
          {
            reason: 'FieldValueForbidden',
            message: 'Forbidden: may not be specified for non-apply patch',
            field: 'force',
          },
        ]);
      }
    }
    await patch.refused('BadRequest', 'merge', `${map}?force=maybe`, {});
  });

  test('an apply names its manager', async () => {
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', ...named('settings') };
    const { details } = await patch.refused('Invalid', 'apply', map, applied);
    assert.equal(details?.causes?.[0]?.message, 'Required value: is required for apply patch');
    assert.equal(details?.causes?.[0]?.field, 'fieldManager');
  });

  test('a manager is printable and not too long', async () => {
    await patch.refused('Invalid', 'merge', `${map}?fieldManager=${'m'.repeat(129)}`, {});
    await patch.refused('Invalid', 'merge', `${map}?fieldManager=a%07b`, {});
    await patch.must('merge', `${map}?fieldManager=${'m'.repeat(128)}`, {});
  });
});

describe('who wrote', () => {
  const managers = ({ metadata }: Shown) => metadata.managedFields?.map(({ manager }) => manager);

  test('is the fieldManager, else the program that the client says to be', async () => {
    await admin.must('POST', `${maps}?fieldManager=maker`, { ...named('written'), data: { first: 'v' } });
    const place = `${maps}/written`;
    const agents: readonly (readonly [string, string])[] = [
      ['kubectl/v1.34 (linux/amd64)', 'kubectl'],
      ['curl', 'curl'],
      [`${'long'.repeat(50)}/1`, 'long'.repeat(32)],
      ['odd\tname/1', 'oddname'],
    ];
    for (const [index, [userAgent, manager]] of agents.entries()) {
      const reply = await patch.request(
        'merge',
        place,
        { data: { [`k${index}`]: 'v' } },
        { 'user-agent': userAgent },
      );
      assert.equal(reply.code, 200, reply.text);
      assert.ok(managers(objectIn(reply))?.includes(manager), reply.text);
    }
    const signed = await patch.must('merge', `${place}?fieldManager=someone`, { data: { z: 'v' } });
    assert.ok(managers(signed)?.includes('someone'));
  });

  test('may say nothing of itself', async () => {
    const patched = await patch.must('merge', map, { data: { unsigned: 'v' } });
    assert.ok(managers(patched)?.includes('unknown'));
  });
});

describe('fieldValidation', () => {
  const text = '{"data":{"a":"x","a":"y"},"odd":1,"metadata":{"lables":{}}}';
  const complaints = ['unknown field "odd"', 'unknown field "metadata.lables"', 'duplicate field "data.a"'];
  const steps =
    '[{"op":"add","path":"/odd","value":1,"vlaue":2},{"op":"add","op":"remove","path":"/data/a"}]';
  const stepComplaints = [
    'json patch unknown field "[0].vlaue"',
    'json patch duplicate field "[1].op"',
    'unknown field "odd"',
  ];
  const bodies = [
    ['merge', text, complaints],
    ['strategic', text, complaints],
    ['json', steps, stepComplaints],
  ] as const;

  test('Warn, which is the default, warns of each once', async () => {
    for (const [sort, body, expected] of bodies) {
      for (const query of ['', '?fieldValidation=Warn&dryRun=All']) {
        const reply = await patch.request(sort, `${map}${query}`, body);
        assert.equal(reply.code, 200, reply.text);
        const told = expected.map((complaint) => `299 - "${complaint.replaceAll('"', '\\"')}"`);
        assert.deepEqual(warningsOf(reply).sort(), told.sort());
        assert.equal(Reflect.get(objectIn(reply), 'odd'), undefined);
        if (query === '') await patch.must('merge', map, { data: { a: '1' } });
      }
    }
  });

  test('Ignore says nothing', async () => {
    for (const [sort, body] of bodies) {
      const reply = await patch.request(sort, `${map}?fieldValidation=Ignore&dryRun=All`, body);
      assert.equal(reply.code, 200, reply.text);
      assert.deepEqual(warningsOf(reply), []);
    }
  });

  test('Strict refuses with all of them', async () => {
    for (const [sort, body, expected] of bodies) {
      const { message } = await patch.refused('BadRequest', sort, `${map}?fieldValidation=Strict`, body);
      assert.match(message ?? '', /^strict decoding error: /);
      for (const complaint of expected) assert.ok(message?.includes(complaint), message);
    }
    await assertUntouched();
    await patch.must('merge', `${map}?fieldValidation=Strict`, { data: { a: 'fine' } });
  });

  test('another level is 422', async () => {
    await patch.refused('Invalid', 'merge', `${map}?fieldValidation=strict`, {});
  });
});
