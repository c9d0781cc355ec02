import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { configMaps, named, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const path = configMaps('default');

describe('the parameters of a write', () => {
  test('that are wrong are told together, with the options that they belong to', async () => {
    const query = `fieldManager=${'m'.repeat(129)}&dryRun=Some&fieldValidation=Loose`;
    for (const [method, place, kind] of [
      ['POST', path, 'CreateOptions'],
      ['PUT', `${path}/x`, 'UpdateOptions'],
    ] as const) {
      const { details, message } = await admin.refused('Invalid', method, `${place}?${query}`, {
        body: named('x'),
      });
      assert.match(
        message ?? '',
        new RegExp(`^${kind}\\.meta\\.k8s\\.io "" is invalid: \\[fieldManager: Too long`),
      );
      assert.deepEqual([details?.group, details?.kind], ['meta.k8s.io', kind]);
      assert.deepEqual(
        details?.causes?.map(({ field, reason }) => `${field} ${reason}`),
        [
          'fieldManager FieldValueTooLong',
          'dryRun FieldValueNotSupported',
          'fieldValidation FieldValueNotSupported',
        ],
      );
    }
  });

  test('fieldManager: at most 128 characters that can be printed', async () => {
    for (const [index, good] of ['kubectl-client-side', 'ü'.repeat(128), 'a b', ''].entries()) {
      const reply = await admin.request('POST', `${path}?fieldManager=${encodeURIComponent(good)}`, {
        body: named(`managed-${index}`),
      });
      assert.equal(reply.code, 201, good);
    }
    for (const bad of ['a\u0000', 'a\nb', 'a\u00a0b', '\u200b', '\u2028', 'm'.repeat(129), 'ü'.repeat(129)]) {
      const { details } = await admin.refused(
        'Invalid',
        'POST',
        `${path}?fieldManager=${encodeURIComponent(bad)}`,
        { body: named('never') },
      );
      assert.equal(details?.causes?.[0]?.field, 'fieldManager');
    }
  });

  test('of one name given twice: the first counts; those that nobody knows do not', async () => {
    const kept = await admin.request('POST', `${path}?fieldValidation=Ignore&fieldValidation=Strict&x=y`, {
      body: { ...named('twice'), nonsense: 1 },
    });
    assert.equal(kept.code, 201, kept.text);
    await admin.refused('BadRequest', 'POST', `${path}?fieldValidation=Strict&fieldValidation=Ignore`, {
      body: { ...named('twice-again'), nonsense: 1 },
    });
  });
});

describe('the parameters of a list', () => {
  test('that are no numbers or truths are 400', async () => {
    for (const query of [
      ...['limit=abc', 'limit=1.5', 'timeoutSeconds=x'],
      ...['watch=perhaps', 'continue=abc', 'continue=abc&resourceVersion=5', 'resourceVersion=abc'],
    ]) {
      await admin.refused('BadRequest', 'GET', `${path}?${query}`);
    }
  });

  test('limit=-1 and timeoutSeconds=-1 mean none, as clients write it', async () => {
    for (const query of ['limit=-1', 'timeoutSeconds=-1', 'limit=-1&timeoutSeconds=-1']) {
      const { code, text } = await admin.request('GET', `${path}?${query}`);
      assert.equal(code, 200, text);
      assert.doesNotMatch(text, /"continue"/);
    }
  });

  test('that forbid each other are 422 with causes', async () => {
    for (const [query, fields] of [
      ['resourceVersionMatch=Exact', ['resourceVersionMatch']],
      ['resourceVersionMatch=Exact&resourceVersion=0', ['resourceVersionMatch']],
      ['resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x', ['resourceVersionMatch']],
      ['resourceVersionMatch=Perhaps', ['resourceVersionMatch', 'resourceVersionMatch']],
      ['sendInitialEvents=true', ['sendInitialEvents']],
      ['sendInitialEvents=false', ['sendInitialEvents']],
    ] as const) {
      const { details } = await admin.refused('Invalid', 'GET', `${path}?${query}`);
      assert.deepEqual([details?.group, details?.kind], ['meta.k8s.io', 'ListOptions']);
      assert.deepEqual(
        details?.causes?.map(({ field }) => field),
        fields,
        query,
      );
    }
  });

  test('that mean nothing are passed over', async () => {
    const query =
      'limit=0&timeoutSeconds=0&continue=&resourceVersion=&resourceVersionMatch=&pretty=no&unknown=1';
    assert.equal((await admin.request('GET', `${path}?${query}`)).code, 200);
  });
});
