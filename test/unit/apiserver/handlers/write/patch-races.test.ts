import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { FaultyStore } from '../../../../../src/testing/faults/faulty-store.ts';
import { configMaps, named, objectIn, startServer } from '../../support/index.ts';
import { patcher, warningsOf } from '../patch-request.ts';

const maps = configMaps('default');

const nothing = () => Promise.resolve();
/** Runs before each write of a ConfigMap, which waits for it. */
let meanwhile: () => Promise<void> = nothing;
const server = await startServer({
  wrapStore: (opened) =>
    new FaultyStore(opened, {
      async commit(write, kept) {
        if (write.key.includes('/configmaps/')) await meanwhile();
        return await kept.commit(write);
      },
    }),
});
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const patch = patcher(admin);

/** Lets another write land first, `times` in all, each before a write of the patch that is tested. */
function losing(times: number, write: (count: number) => Promise<unknown>): void {
  let left = times;
  meanwhile = async () => {
    if (left === 0) return;
    left--;
    const again = meanwhile;
    meanwhile = nothing;
    await write(times - left);
    meanwhile = again;
  };
}

async function map(name: string, values: Record<string, string> = {}): Promise<string> {
  meanwhile = nothing;
  await admin.must('POST', maps, { ...named(name), data: values });
  return `${maps}/${name}`;
}

const dataOf = async (path: string): Promise<unknown> => Reflect.get(await admin.must('GET', path), 'data');

describe('a patch that another write overtakes', () => {
  for (const sort of ['json', 'merge', 'strategic'] as const) {
    test(`${sort}: is applied to what is there then`, async () => {
      const path = await map(`raced-${sort}`, { mine: '0', theirs: '0' });
      losing(3, (count) => patch.must('merge', path, { data: { theirs: String(count) } }));
      const body =
        sort === 'json' ? [{ op: 'replace', path: '/data/mine', value: '1' }] : { data: { mine: '1' } };
      const patched = await patch.must(sort, path, body);
      assert.deepEqual(Reflect.get(patched, 'data'), { mine: '1', theirs: '3' });
      assert.deepEqual(await dataOf(path), { mine: '1', theirs: '3' });
    });
  }

  test('is refused when it does not hold any more', async () => {
    const path = await map('tested', { lock: 'free' });
    losing(1, () => patch.must('merge', path, { data: { lock: 'theirs' } }));
    const { message } = await patch.refused('Invalid', 'json', path, [
      { op: 'test', path: '/data/lock', value: 'free' },
      { op: 'replace', path: '/data/lock', value: 'mine' },
    ]);
    assert.match(message ?? '', /operation 0 \(test \/data\/lock\)/);
    assert.deepEqual(await dataOf(path), { lock: 'theirs' });
  });

  test('is 404 when the object is gone', async () => {
    const path = await map('deleted');
    losing(1, () => admin.must('DELETE', path));
    await patch.refused('NotFound', 'merge', path, { data: { a: '1' } });
  });

  test('is 409 when it is meant for the version that was there', async () => {
    const path = await map('versioned', { a: '0' });
    const { metadata } = await admin.must('GET', path);
    let writes = 0;
    losing(1, () => {
      writes++;
      return patch.must('merge', path, { data: { a: 'theirs' } });
    });
    const mine = { metadata: { resourceVersion: metadata.resourceVersion }, data: { a: 'mine' } };
    const { message } = await patch.refused('Conflict', 'merge', path, mine);
    assert.match(
      message ?? '',
      /the object has been modified; please apply your changes to the latest version/,
    );
    assert.equal(writes, 1);
    assert.deepEqual(await dataOf(path), { a: 'theirs' });
    await patch.refused('Conflict', 'strategic', path, mine);
    const steps = [{ op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion }];
    await patch.refused('Conflict', 'json', path, steps);
  });

  test('warns once of what is wrong with it', async () => {
    const path = await map('warned');
    losing(2, (count) => patch.must('merge', path, { data: { theirs: String(count) } }));
    const reply = await patch.request('merge', path, { data: { a: '1' }, odd: 1 });
    assert.equal(reply.code, 200, reply.text);
    assert.deepEqual(warningsOf(reply), ['299 - "unknown field \\"odd\\""']);
    assert.deepEqual(Reflect.get(objectIn(reply), 'data'), { a: '1', theirs: '2' });
  });
});

test('of many patches to different keys at once, all land', async () => {
  const path = await map('crowded');
  meanwhile = async () => {
    for (let turn = 0; turn < 5; turn++) await setImmediate(); // so that they meet
  };
  const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`);
  await Promise.all(keys.map((key) => patch.must('merge', path, { data: { [key]: 'v' } })));
  assert.deepEqual(await dataOf(path), Object.fromEntries(keys.map((key) => [key, 'v'])));
});
