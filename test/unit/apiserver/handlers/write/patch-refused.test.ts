import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMaps, named } from '../../support/index.ts';
import { patcher, patchLab, patchTypes } from '../patch-request.ts';

const lab = await patchLab();
const { server, admin, patch, maps, map, assertUntouched } = lab;

describe('what cannot be read', () => {
  test('a body of another sort is 415 and tells which there are', async () => {
    for (const type of [
      'application/json',
      'application/yaml',
      'application/apply-patch+cbor',
      'application/merge-patch',
      'application/merge-patch+json; charset=utf-16',
      'text/plain',
      'nonsense',
    ]) {
      const headers = { 'content-type': type };
      const { message, reply } = await admin.refused('UnsupportedMediaType', 'PATCH', map, {
        body: {},
        headers,
      });
      assert.equal(reply.headers['accept-patch'], Object.values(patchTypes).join(', '), type);
      assert.ok(
        message?.endsWith(`accepted media types include: ${Object.values(patchTypes).join(', ')}`),
        message,
      );
    }
    await assertUntouched();
  });

  test('a charset and large letters do not matter', async () => {
    for (const type of [
      'application/merge-patch+json; charset=utf-8',
      'Application/Merge-Patch+JSON;charset="UTF-8"',
    ]) {
      const reply = await patch.request('merge', map, { data: { a: type } }, { 'content-type': type });
      assert.equal(reply.code, 200, reply.text);
    }
  });

  test('no body, no JSON, or JSON that is no patch is 400', async () => {
    const wrong: readonly (readonly ['json' | 'merge' | 'strategic', string, RegExp])[] = [
      ['json', '', /the body is empty: send a patch/],
      ['merge', '{', /the body is not valid JSON: line 1, column 2/],
      ['merge', '[]', /a merge patch is an object with the fields to change/],
      ['strategic', '"x"', /a strategic patch is an object/],
      ['json', '{}', /a JSON Patch is a list of operations, not an object/],
      ['json', '[{"op":"spam","path":"/data"}]', /operation 0: op must be one of/],
      ['json', '[{"op":"remove","path":"data"}]', /operation 0: remove needs a path that is a JSON Pointer/],
      ['json', '[{"op":"add","path":"/data/a"}]', /operation 0: add \/data\/a needs a value/],
      ['merge', '{"data":{"a\\\\b":"1"}}', /no keys with a backslash/],
      ['merge', '['.repeat(300), /nested deeper than 256 levels/],
    ];
    for (const [sort, body, why] of wrong) {
      const { message } = await patch.refused('BadRequest', sort, map, body);
      assert.match(message ?? '', why);
    }
    const latin = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    const headers = { 'content-type': patchTypes.merge };
    await admin.refused('BadRequest', 'PATCH', map, { body: latin, headers });
    const zipped = { ...headers, 'content-encoding': 'gzip' };
    await admin.refused('UnsupportedMediaType', 'PATCH', map, { body: {}, headers: zipped });
    await assertUntouched();
  });

  test('more than a server bears is 413', async () => {
    const step = { op: 'test', path: '/data/a', value: '1' };
    const many = await patch.refused('RequestEntityTooLarge', 'json', map, Array(10_001).fill(step));
    assert.match(many.message ?? '', /The allowed maximum operations in a JSON patch is 10000, got 10001/);
    await patch.must('json', map, Array(10_000).fill(step));
    const bomb = Array(10_000).fill({ op: 'copy', from: '/data', path: '/data/data' });
    const copies = await patch.refused('RequestEntityTooLarge', 'json', map, bomb);
    assert.match(copies.message ?? '', /Request entity too large: operation \d+ \(copy \/data\/data\): /);
    await patch.refused('RequestEntityTooLarge', 'merge', map, { data: { a: 'x'.repeat(3 * 1024 * 1024) } });
    await assertUntouched();
  });
});

describe('what cannot be done', () => {
  test('an operation that fails is 422, names itself and undoes those before it', async () => {
    const { message, details } = await patch.refused('Invalid', 'json', map, [
      { op: 'replace', path: '/data/a', value: 'changed' },
      { op: 'test', path: '/data/b', value: 'x' },
    ]);
    const why = 'operation 1 (test /data/b): the value there is another one';
    assert.equal(message, `ConfigMap "settings" is invalid: patch: ${why}`);
    assert.deepEqual(details?.causes, [{ reason: 'FieldValueInvalid', message: why, field: 'patch' }]);
    await patch.refused('Invalid', 'json', map, [{ op: 'add', path: '/data/x\\y', value: '1' }]);
    await assertUntouched();
  });

  test('what is no object of the kind any more is 422 and tells where', async () => {
    const wrong: readonly (readonly ['json' | 'merge' | 'strategic', unknown, RegExp])[] = [
      [
        'merge',
        { data: { a: 7 } },
        /patch: Invalid value: {"data":{"a":7}}: .*data\.a: expected a string, found number 7/,
      ],
      ['merge', { data: 'x' }, /data: expected a map, found string "x"/],
      ['strategic', { immutable: 'yes' }, /immutable: expected true or false, found string "yes"/],
      ['json', [{ op: 'add', path: '/metadata', value: [] }], /metadata: expected an object, found a list/],
      [
        'json',
        [{ op: 'replace', path: '', value: 'x' }],
        /expected an object of kind ConfigMap, found string "x"/,
      ],
      ['merge', { metadata: { labels: { 'a b': '1' } } }, /metadata\.labels: Invalid value: "a b"/],
      ['merge', { data: { '../x': '1' } }, /data.*: Invalid value/],
    ];
    for (const [sort, body, why] of wrong) {
      const { message } = await patch.refused('Invalid', sort, map, body);
      assert.match(message ?? '', why);
    }
    await assertUntouched();
  });

  test('there must be something to patch, and leave to do it', async () => {
    for (const sort of ['json', 'merge', 'strategic'] as const) {
      const body = sort === 'json' ? [] : {};
      const { message } = await patch.refused('NotFound', sort, `${maps}/nobody`, body);
      assert.equal(message, 'configmaps "nobody" not found');
      await patch.refused('NotFound', sort, `${configMaps('nowhere')}/x`, body);
      await patcher(server.stranger).refused('Forbidden', sort, map, body);
      await patcher(server.nobody).refused('Unauthorized', sort, map, body);
      await patch.refused('MethodNotAllowed', sort, maps, body);
    }
    await assertUntouched();
  });
});

test('no error about a Secret shows a value', async () => {
  const secrets = '/api/v1/namespaces/default/secrets';
  const canary = 'hunter2-canary!';
  await admin.must('POST', secrets, { ...named('keys'), stringData: { password: canary } });
  const place = `${secrets}/keys?fieldValidation=Strict`;
  const refusals = [
    await patch.refused('BadRequest', 'merge', place, { stringData: { a: canary }, odd: canary }),
    await patch.refused('Invalid', 'merge', place, { data: canary }),
    await patch.refused('Invalid', 'strategic', place, { data: [canary] }),
    await patch.refused('Invalid', 'json', place, [{ op: 'test', path: '/data/password', value: canary }]),
    await patch.refused('Invalid', 'json', place, [{ op: 'replace', path: '', value: canary }]),
    await patch.refused('Invalid', 'json', place, [{ op: 'add', path: '/data/password/x', value: canary }]),
    await patch.refused('BadRequest', 'merge', place, JSON.stringify(canary)),
    await patch.refused('BadRequest', 'json', place, [canary]),
    await patch.refused('BadRequest', 'strategic', place, { $patch: canary }),
    await patch.refused('BadRequest', 'strategic', place, { '$setElementOrder/data': canary }),
  ];
  const inBase64 = Buffer.from(canary).toString('base64');
  for (const { reply } of refusals) {
    assert.ok(!reply.text.includes(canary) && !reply.text.includes(inBase64), reply.text);
  }
});
