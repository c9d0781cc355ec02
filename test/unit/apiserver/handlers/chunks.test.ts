import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { decodeEnvelope, decodeMessage } from '../../../../src/api/codec/protobuf/index.ts';
import { isRecord } from '../../../../src/api/index.ts';
import { listMeta } from '../../../../src/api/kinds/index.ts';
import { field, struct } from '../../../../src/api/schema/index.ts';
import type { ApiTester, Shown } from '../support/index.ts';
import {
  allLeases,
  configMaps,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  objectIn,
  shiftedClock,
  startServer,
} from '../support/index.ts';

const clock = shiftedClock();
const server = await startServer({ clock });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

interface Chunk {
  names: string[];
  /** The list's resourceVersion. */
  version: string;
  token: string | undefined;
  remaining: number | undefined;
}

/** One chunk; the path has a query already. */
async function chunk(path: string, token?: string, client: ApiTester = admin): Promise<Chunk> {
  const reply = await client.request('GET', `${path}${token === undefined ? '' : `&continue=${token}`}`);
  assert.equal(reply.code, 200, reply.text);
  const { items, metadata }: { items: Shown[]; metadata: Record<string, unknown> } = JSON.parse(reply.text);
  const { continue: next, remainingItemCount, resourceVersion } = metadata;
  assert.ok(next === undefined || typeof next === 'string');
  assert.ok(remainingItemCount === undefined || typeof remainingItemCount === 'number');
  return {
    names: items.map((item) => item.metadata.name ?? ''),
    version: String(resourceVersion),
    token: next,
    remaining: remainingItemCount,
  };
}

/** Every chunk of a list, with whatever happens between them. */
async function chunks(path: string, between: (index: number) => Promise<unknown> = async () => undefined) {
  const all = [await chunk(path)];
  for (let token = all[0]?.token; token !== undefined; token = all.at(-1)?.token) {
    await between(all.length);
    all.push(await chunk(path, token));
  }
  return all;
}

let spaces = 0;
/** The leases of a new namespace: a0, a1, …; every third one is red. */
async function filled(count: number): Promise<string> {
  spaces += 1;
  const path = leases(`chunks-${spaces}`);
  await admin.must('POST', namespaces, named(`chunks-${spaces}`));
  for (let index = 0; index < count; index += 1) {
    const labels = index % 3 === 0 ? { labels: { colour: 'red' } } : {};
    await admin.must('POST', path, lease(`a${index}`, labels));
  }
  return path;
}

describe('a list with a limit', () => {
  test('comes in chunks, each with a token for the next and the number of those that follow', async () => {
    const path = await filled(7);
    const all = await chunks(`${path}?limit=3`);
    assert.deepEqual(
      all.map(({ names, remaining }) => ({ names, remaining })),
      [
        { names: ['a0', 'a1', 'a2'], remaining: 4 },
        { names: ['a3', 'a4', 'a5'], remaining: 1 },
        { names: ['a6'], remaining: undefined },
      ],
    );
  });

  test('that is not reached has neither token nor number', async () => {
    const path = await filled(3);
    for (const query of ['limit=3', 'limit=4', 'limit=0', 'limit=999999999999']) {
      const { names, token, remaining } = await chunk(`${path}?${query}`);
      assert.deepEqual([names.length, token, remaining], [3, undefined, undefined], query);
    }
    const none = await chunk(`${leases('nowhere')}?limit=1`);
    assert.deepEqual([none.names, none.token, none.remaining], [[], undefined, undefined]);
  });

  test('shows one state in all its chunks, whatever happens meanwhile', async () => {
    const path = await filled(6);
    const all = await chunks(`${path}?limit=2`, async (index) => {
      if (index !== 1) return;
      await admin.must('DELETE', `${path}/a4`);
      await admin.must('POST', path, lease('a3x'));
      const changed = await admin.must('GET', `${path}/a5`);
      await admin.must('PUT', `${path}/a5`, { ...changed, spec: { holderIdentity: 'another' } });
    });
    assert.deepEqual(
      all.flatMap(({ names }) => names),
      ['a0', 'a1', 'a2', 'a3', 'a4', 'a5'],
    );
    assert.equal(new Set(all.map(({ version }) => version)).size, 1);
    assert.deepEqual(
      all.map(({ remaining }) => remaining),
      [4, 2, undefined],
    );
    const now = await chunk(`${path}?limit=10`);
    assert.deepEqual(now.names, ['a0', 'a1', 'a2', 'a3', 'a3x', 'a5']);
  });

  test('may change it on the way, and without one the rest comes at once', async () => {
    const path = await filled(6);
    const first = await chunk(`${path}?limit=1`);
    const second = await chunk(`${path}?limit=2`, first.token);
    assert.deepEqual([second.names, second.remaining], [['a1', 'a2'], 3]);
    const again = await chunk(`${path}?limit=2`, first.token);
    assert.deepEqual(
      [again.names, again.version],
      [second.names, second.version],
      'a token can be used again',
    );
    const rest = await chunk(`${path}?pretty=0`, second.token);
    assert.deepEqual([rest.names, rest.token, rest.version], [['a3', 'a4', 'a5'], undefined, first.version]);
  });

  test('goes on over all namespaces', async () => {
    await filled(2);
    await filled(2);
    const all = await chunks(`${allLeases}?limit=3`);
    const whole = await admin.list(allLeases);
    assert.deepEqual(
      all.flatMap(({ names }) => names),
      whole.map(({ metadata }) => metadata.name),
    );
  });
});

describe('a list with a limit and selectors', () => {
  test('has full chunks, no number of those that follow, and ends with the last object that is meant', async () => {
    const path = await filled(14);
    const all = await chunks(`${path}?limit=2&labelSelector=colour%3Dred`);
    assert.deepEqual(
      all.map(({ names, remaining }) => ({ names, remaining })),
      [
        { names: ['a0', 'a12'], remaining: undefined },
        { names: ['a3', 'a6'], remaining: undefined },
        { names: ['a9'], remaining: undefined },
      ],
    );
    const exact = await chunks(`${path}?limit=5&labelSelector=colour%3Dred`);
    assert.equal(exact.length, 1, 'there is no empty chunk at the end');
    const none = await chunks(`${path}?limit=5&labelSelector=colour%3Dblue`);
    assert.deepEqual([none.length, none[0]?.names], [1, []]);
  });

  test('is filled from as many pages as it takes', async () => {
    const path = await filled(1300);
    const all = await chunks(`${path}?limit=1&fieldSelector=metadata.name!%3Da0&labelSelector=colour`);
    assert.equal(all.length, 433);
    const few = await chunks(`${path}?limit=300&labelSelector=colour%3Dred`, async () => {
      await admin.must('POST', path, lease(`new-${Date.now()}`, { labels: { colour: 'red' } }));
    });
    assert.deepEqual(
      few.map(({ names }) => names.length),
      [300, 134],
    );
  });
});

describe('a continue token', () => {
  test('belongs to its list: kind, namespace and selectors', async () => {
    const path = await filled(3);
    const other = await filled(3);
    const query = 'limit=1&labelSelector=!blue';
    const { token } = await chunk(`${path}?${query}`);
    assert.ok(token);
    for (const wrong of [
      `${other}?${query}`,
      `${allLeases}?${query}`,
      `${configMaps('chunks-1')}?${query}`,
      `${nodes}?${query}`,
      `${path}?limit=1`,
      `${path}?limit=1&labelSelector=!green`,
      `${path}?limit=1&labelSelector=!blue&fieldSelector=metadata.name!%3Dx`,
    ]) {
      const { message } = await admin.refused('BadRequest', 'GET', `${wrong}&continue=${token}`);
      assert.match(message ?? '', /^continue key is not valid/);
    }
    assert.deepEqual((await chunk(`${path}?${query}`, token)).names, ['a1']);
  });

  test('stands alone or with resourceVersion=0', async () => {
    const path = await filled(3);
    const { token } = await chunk(`${path}?limit=1`);
    assert.deepEqual((await chunk(`${path}?limit=1&resourceVersion=0`, token)).names, ['a1']);
    const with5 = `${path}?limit=1&resourceVersion=5&continue=${token}`;
    const { message } = await admin.refused('BadRequest', 'GET', with5);
    assert.equal(message, 'specifying resource version is not allowed when using continue');
    await admin.refused('Invalid', 'GET', `${with5}&resourceVersionMatch=Exact`);
  });

  test('that is too old is 410, with a fresh one that goes on in the newest state', async () => {
    const path = await filled(6);
    const first = await chunk(`${path}?limit=2`);
    await admin.must('DELETE', `${path}/a2`);
    await admin.must('POST', path, lease('a4x'));
    clock.shiftMs += 5 * 60_000 + 1;
    const reply = await admin.request('GET', `${path}?limit=2&continue=${first.token}`);
    assert.equal(reply.code, 410);
    const status = JSON.parse(reply.text);
    assert.deepEqual([status.kind, status.status, status.reason], ['Status', 'Failure', 'Expired']);
    assert.deepEqual(Object.keys(status.metadata), ['continue']);

    const second = await chunk(`${path}?limit=2`, status.metadata.continue);
    assert.deepEqual([second.names, second.remaining], [['a3', 'a4'], 2]);
    assert.ok(Number(second.version) > Number(first.version));
    await admin.must('DELETE', `${path}/a5`);
    const third = await chunk(`${path}?limit=2`, second.token);
    assert.deepEqual(third.names, ['a4x', 'a5'], 'from here on it is one state again');
    assert.equal(third.version, second.version);

    clock.shiftMs += 5 * 60_000 + 1;
    const again = await admin.request('GET', `${path}?limit=2&continue=${status.metadata.continue}`);
    assert.equal(again.code, 410, 'the fresh one gets old too');
  });

  test('works in the hands of another server of the same authority only', async () => {
    const { token } = await chunk(`${await filled(2)}?limit=1`);
    await using other = await startServer();
    const path = leases(`chunks-${spaces}`);
    await other.admin.refused('BadRequest', 'GET', `${path}?limit=1&continue=${token}`);
  });
});

describe('the metadata of a chunk', () => {
  const protobufList = struct('LeaseList', { metadata: field(1, listMeta, 'Of the list.') });
  const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const partialType = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

  test('is told in tables, in metadata alone, in YAML, and indented', async () => {
    const path = `${await filled(5)}?limit=2`;
    const bodyAs = async (accept: string, more = '') =>
      (await admin.request('GET', `${path}${more}`, { headers: { accept } })).text;
    for (const text of [
      await bodyAs(tableType),
      await bodyAs(partialType),
      await bodyAs('application/json', '&pretty=1'),
    ]) {
      const { metadata, items, rows } = JSON.parse(text);
      assert.equal(metadata.remainingItemCount, 3);
      assert.equal((items ?? rows).length, 2);
      assert.deepEqual((await chunk(path, metadata.continue)).names, ['a2', 'a3']);
    }
    const yaml = await bodyAs('application/yaml');
    assert.match(yaml, /^ {2}remainingItemCount: 3$/m);
    const token = /^ {2}continue: "?([\w-]+)"?$/m.exec(yaml)?.[1];
    assert.deepEqual((await chunk(path, token)).names, ['a2', 'a3']);
  });

  test('is told in protobuf', async () => {
    const path = `${await filled(5)}?limit=2`;
    const accept = 'application/vnd.cluster.protobuf';
    const { bytes } = await admin.request('GET', path, { headers: { accept } });
    const { metadata } = decodeMessage(protobufList, decodeEnvelope(bytes).raw);
    assert.ok(isRecord(metadata));
    assert.equal(metadata['remainingItemCount'], 3);
    assert.deepEqual((await chunk(path, String(metadata['continue']))).names, ['a2', 'a3']);
  });
});

describe('the deletion of a collection with a limit', () => {
  test('answers a token for the rest, which is what was there at the start', async () => {
    const path = await filled(5);
    const first = await admin.must('DELETE', `${path}?limit=2`);
    assert.deepEqual(Object.keys(first.metadata), ['continue']);
    await admin.must('POST', path, lease('a3x'));
    const second = await admin.must('DELETE', `${path}?limit=2&continue=${tokenIn(first)}`);
    assert.deepEqual(await namesIn(path), ['a3x', 'a4']);
    const third = await admin.must('DELETE', `${path}?limit=2&continue=${tokenIn(second)}`);
    assert.deepEqual(third.metadata, {});
    assert.deepEqual(await namesIn(path), ['a3x']);
  });

  test('takes the token of a list, and of the same list only', async () => {
    const path = await filled(4);
    const { token } = await chunk(`${path}?limit=1&labelSelector=!blue`);
    await admin.refused('BadRequest', 'DELETE', `${path}?limit=1&continue=${token}`);
    await admin.must('DELETE', `${path}?limit=2&labelSelector=!blue&continue=${token}`);
    assert.deepEqual(await namesIn(path), ['a0', 'a3']);
  });

  test('with a version takes that version, and 410 has a fresh token', async () => {
    const path = await filled(3);
    const { version } = await chunk(`${path}?limit=1`);
    await admin.must('POST', path, lease('a00'));
    const first = await admin.must('DELETE', `${path}?limit=1&resourceVersion=${version}`);
    clock.shiftMs += 5 * 60_000 + 1;
    const reply = await admin.request('DELETE', `${path}?continue=${tokenIn(first)}`);
    assert.equal(reply.code, 410);
    await admin.must('DELETE', `${path}?continue=${tokenIn(objectIn(reply))}`);
    assert.deepEqual(await namesIn(path), [], 'the newest state has what came later too');
  });

  test('goes on behind what it passes over', async () => {
    const path = await filled(6);
    const first = await admin.must('DELETE', `${path}?limit=1&labelSelector=colour%3Dred&dryRun=All`);
    const token = tokenIn(first);
    const rest = await admin.must('DELETE', `${path}?limit=1&labelSelector=colour%3Dred&continue=${token}`);
    assert.deepEqual(rest.metadata, {});
    assert.deepEqual(await namesIn(path), ['a0', 'a1', 'a2', 'a4', 'a5']);
  });
});

const namesIn = async (path: string) => (await admin.list(path)).map(({ metadata }) => metadata.name);

function tokenIn({ metadata }: object & { metadata: object }): string {
  const token = 'continue' in metadata ? metadata.continue : undefined;
  assert.ok(typeof token === 'string');
  return token;
}
