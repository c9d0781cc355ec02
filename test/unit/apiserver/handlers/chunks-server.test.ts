import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ListMeta } from '../../../../src/api/index.ts';
import { resolveGates } from '../../../../src/api/index.ts';
import type { RunningApiServer } from '../../../../src/apiserver/index.ts';
import { runApiServer } from '../../../../src/apiserver/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { ApiTester } from '../support/api-tester.ts';
import type { Shown } from '../support/index.ts';
import { configMaps, named, startServer } from '../support/index.ts';

const path = configMaps('default');

interface List {
  items: Shown[];
  metadata: ListMeta;
}

async function list(client: ApiTester, query: string): Promise<List> {
  const reply = await client.request('GET', `${path}?${query}`);
  assert.equal(reply.code, 200, reply.text);
  return JSON.parse(reply.text);
}

describe('chunks of a list that others write to all the time', () => {
  test('are together what the list was at their version', async () => {
    await using server = await startServer();
    const { admin } = server;
    const nameOf = (index: number) => `m${index % 60}`;
    for (let index = 0; index < 60; index += 2) await admin.must('POST', path, named(nameOf(index)));
    let listing = true;
    const writers = [1, 7, 11, 13].map(async (step) => {
      for (let index = step; listing; index += step) {
        const method = index % 3 === 0 ? 'DELETE' : 'POST';
        const place = method === 'DELETE' ? `${path}/${nameOf(index)}` : path;
        const { code } = await admin.request(method, place, { body: named(nameOf(index)) });
        assert.ok([200, 201, 404, 409].includes(code));
      }
    });
    try {
      for (let round = 0; round < 20; round += 1) await compareWithWhole(admin);
    } finally {
      listing = false;
      await Promise.all(writers);
    }
  });
});

async function compareWithWhole(client: ApiTester): Promise<void> {
  const all = [await list(client, 'limit=7')];
  for (let token = all[0]?.metadata.continue; token; token = all.at(-1)?.metadata.continue) {
    all.push(await list(client, `limit=7&continue=${token}`));
  }
  const versions = new Set(all.map(({ metadata }) => metadata.resourceVersion));
  assert.equal(versions.size, 1);
  const [version] = versions;
  const whole = await list(client, `resourceVersion=${version}&resourceVersionMatch=Exact`);
  assert.deepEqual(
    all.flatMap(({ items }) => items),
    whole.items,
  );
}

describe('a continue token', () => {
  test('goes on after a restart of the server, in the same state', async () => {
    await using folder = await temporaryFolder();
    let token: string | undefined;
    {
      await using server = await start(folder.path);
      for (const name of ['a', 'b', 'c', 'd']) await server.admin.must('POST', path, named(name));
      const { items, metadata } = await list(server.admin, 'limit=2&fieldSelector=metadata.name!%3Db');
      assert.deepEqual(namesOf(items), ['a', 'c']);
      token = metadata.continue;
      await server.admin.must('DELETE', `${path}/d`);
    }
    await using server = await start(folder.path);
    await server.admin.must('POST', path, named('cc'));
    const rest = await list(server.admin, `limit=2&fieldSelector=metadata.name!%3Db&continue=${token}`);
    assert.deepEqual(namesOf(rest.items).at(0), 'd');
    assert.deepEqual(namesOf((await list(server.admin, '')).items), ['a', 'b', 'c', 'cc']);
  });
});

const namesOf = (items: readonly Shown[]) =>
  items.flatMap(({ metadata: { name = '' } }) => (name === 'kube-root-ca.crt' ? [] : [name]));

/** A server that keeps its objects and keys in a folder. */
async function start(rootDir: string): Promise<{ admin: ApiTester } & AsyncDisposable> {
  const stopping = new AbortController();
  const started = Promise.withResolvers<RunningApiServer>();
  const options = {
    rootDir,
    groupSuffix: 'k8s.io',
    bindAddress: '127.0.0.1',
    securePort: 0,
    storage: 'sqlite' as const,
    featureGates: resolveGates({}),
    clock: systemClock,
    log: silentLogger(),
  };
  const ended = runApiServer(options, stopping.signal, started.resolve);
  ended.catch(started.reject);
  const { url, ca } = await started.promise;
  const [cert, key] = await Promise.all(
    ['crt', 'key'].map((part) => readFile(join(rootDir, 'pki', `admin.${part}`), 'utf8')),
  );
  const admin = new ApiTester({
    port: Number(new URL(url).port),
    ca,
    pair: { cert: cert ?? '', key: key ?? '' },
  });
  return {
    admin,
    async [Symbol.asyncDispose]() {
      admin.close();
      stopping.abort();
      await ended;
    },
  };
}
