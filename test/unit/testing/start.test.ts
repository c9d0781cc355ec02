import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isRecord } from '../../../src/api/index.ts';
import { readKubeconfig } from '../../../src/client/index.ts';
import { startApiServer } from '../../../src/testing/index.ts';
import { temporaryFolder, waitFor } from '../../support/index.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { configMaps, leases, named } from '../apiserver/support/index.ts';
import { testerOf } from './tester.ts';

const maps = configMaps('default');

/** A field of an answer, however deep; undefined where there is none. */
function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), value);
}

async function isListening(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(true));
  socket.once('error', () => resolve(false));
  const answer = await promise;
  socket.destroy();
  return answer;
}

describe('a server inside the process', () => {
  test('is the real one: it keeps objects, knows users by their certificates, and refuses what is wrong', async () => {
    await using server = await startApiServer();
    const admin = await server.client();

    const made = await admin.request('POST', maps, { ...named('settings'), data: { colour: 'blue' } });
    assert.equal(made.code, 201);
    assert.equal(at(made.body, 'data', 'colour'), 'blue');
    const wrong = await admin.request('POST', maps, named('Not A Name'));
    assert.equal(at(wrong.body, 'reason'), 'Invalid');

    const alice = await server.client('alice', ['devs']);
    const refused = await alice.request('GET', `${maps}/settings`);
    assert.equal(refused.code, 403);
    assert.match(String(at(refused.body, 'message')), /User "alice" cannot get resource "configmaps"/);
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { body } = await alice.request('POST', review, {});
    assert.equal(at(body, 'status', 'userInfo', 'username'), 'alice');
    assert.deepEqual(at(body, 'status', 'userInfo', 'groups'), ['devs', 'system:authenticated']);
  });

  test('describes itself by a kubeconfig, as text and in a private file that goes with it', async () => {
    const server = await startApiServer();
    const path = await server.kubeconfigFile();
    assert.equal(await server.kubeconfigFile(), path);
    assert.equal(await readFile(path, 'utf8'), server.kubeconfig);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const { server: url, ca } = await readKubeconfig(path);
    assert.deepEqual({ url, ca }, { url: server.url, ca: server.ca });

    await server.close();
    await assert.rejects(stat(path), { code: 'ENOENT' });
  });

  test('shares nothing with others that run at the same time', async () => {
    await using first = await startApiServer();
    await using second = await startApiServer({
      groupSuffix: 'example.org',
      featureGates: { WatchList: false },
    });
    const here = await first.client();
    const there = await second.client();
    assert.notEqual(first.url, second.url);
    assert.notEqual(first.ca, second.ca);

    await here.request('POST', maps, named('only-here'));
    assert.equal((await there.request('GET', `${maps}/only-here`)).code, 404);
    assert.equal((await here.request('GET', leases('default'))).code, 200);
    assert.equal((await there.request('GET', leases('default'))).code, 404);
    const elsewhere = '/apis/coordination.example.org/v1/namespaces/default/leases';
    assert.equal((await there.request('GET', elsewhere)).code, 200);
    const listed = `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`;
    assert.equal((await there.request('GET', listed)).code, 422, 'its own gates');
  });

  test('closes in order, twice if need be, also with a watch and a held request open', async () => {
    const server = await startApiServer();
    using admin = await testerOf(server);
    using watch = await admin.watch(maps);
    const client = await server.client();
    const held = server.faults.delay({ ms: 3_600_000, match: { resource: 'secrets' } });
    const answer = client.request('GET', '/api/v1/secrets').catch((error: unknown) => error);
    while (held.hits === 0) await new Promise((resolve) => setImmediate(resolve));

    const startedMs = performance.now();
    await Promise.all([server.close(), server.close()]);
    await server[Symbol.asyncDispose]();
    assert.ok(performance.now() - startedMs < 1500, 'nobody had to be cut off');
    await watch.ended;
    await answer;
    assert.equal(await isListening(server.url), false);
    await assert.rejects(client.request('GET', '/version'), /is closed/);
    await assert.rejects(server.client('bob'), /is closed/);
    await assert.rejects(server.kubeconfigFile(), /is closed/);
  });

  test('goes by the clock that it is given, whatever day that shows', async () => {
    const clock = createManualClock();
    clock.setWall(40 * 365 * 86_400_000);
    await using server = await startApiServer({ clock });
    const admin = await server.client();

    const { code, body } = await admin.request('POST', maps, named('later'));

    assert.equal(code, 201);
    const created = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    assert.match(created, /^2064/);
    assert.equal(at(body, 'metadata', 'creationTimestamp'), created);
  });

  test('tells its log to whoever wants it, and nobody else', async () => {
    const lines: string[] = [];
    {
      await using server = await startApiServer({ log: (line) => lines.push(line) });
      assert.ok(server.url);
    }
    assert.ok(lines.length > 0);
    for (const line of lines) assert.ok(isRecord(JSON.parse(line)));
  });
});

describe('a server with a store on disk', () => {
  test('is found again, with its objects and credentials, by the next one on its folder and port', async () => {
    await using folder = await temporaryFolder();
    const place = { storage: 'sqlite', folder: join(folder.path, 'server') } as const;
    const before = await startApiServer(place);
    using admin = await testerOf(before);
    const made = await admin.must('POST', maps, named('kept'));
    await before.close();

    const port = Number(new URL(before.url).port);
    await using now = await startApiServer({ ...place, port });
    assert.equal(now.kubeconfig, before.kubeconfig);
    assert.deepEqual(await admin.must('GET', `${maps}/kept`), made);
  });

  test('leaves nothing on disk when it was given no folder', async (t) => {
    await using temporary = await temporaryFolder();
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = temporary.path;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    });
    const server = await startApiServer({ storage: 'sqlite' });
    const client = await server.client();
    assert.equal((await client.request('POST', maps, named('gone'))).code, 201);
    assert.ok((await readdir(temporary.path)).length > 0);
    await server.close();
    assert.deepEqual(await readdir(temporary.path), []);
  });
});

describe('a start that cannot be', () => {
  test('of a feature that there is not', async () => {
    await assert.rejects(
      startApiServer({ featureGates: { Telepathy: true } }),
      /no feature gate "Telepathy"/,
    );
  });

  test('in a storage that there is not, which only JavaScript can ask for', async () => {
    const options = JSON.parse('{"storage":"floppy"}');
    await assert.rejects(startApiServer(options), /storage is one of sqlite, memory, not "floppy"/);
  });

  test('in a folder, without anything to keep there', async () => {
    await assert.rejects(startApiServer({ folder: '/somewhere' }), /a folder goes with storage: 'sqlite'/);
  });

  test('on a port that another has', async () => {
    await using other = await startApiServer();
    const port = Number(new URL(other.url).port);
    await assert.rejects(startApiServer({ port }), /another process uses that port/);
  });

  test('with keys that are none', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'testing-keys.json'), '{"authority":{}}');
    await assert.rejects(
      startApiServer({ storage: 'sqlite', folder: folder.path }),
      /remove it, and new ones/,
    );
  });
});

describe('pods without a node', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (name: string) => ({
    ...named(name),
    spec: { containers: [{ name: 'main', image: 'app:1' }] },
  });
  const reasonOf = (body: unknown) => {
    const conditions = at(body, 'status', 'conditions');
    return Array.isArray(conditions) ? at(conditions[0], 'message') : undefined;
  };

  test('are told that there is none, and get the one that comes', async () => {
    await using server = await startApiServer();
    const { request } = await server.client();
    await request('POST', pods, pod('one'));
    const noNodes = 'no nodes available to schedule pods';
    await waitFor(
      'it to be told',
      async () => reasonOf((await request('GET', `${pods}/one`)).body) === noNodes,
    );
    const room = { allocatable: { cpu: '1', memory: '1Gi', pods: '9' } };
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    await request('POST', '/api/v1/nodes', { ...named('host'), status: { ...room, ...ready } });
    await waitFor(
      'its node',
      async () => at((await request('GET', `${pods}/one`)).body, 'spec', 'nodeName') === 'host',
    );
  });

  test('are left alone by a server without a scheduler', async () => {
    await using server = await startApiServer({ scheduler: false });
    const { request } = await server.client();
    const made = await request('POST', pods, pod('one'));
    await request('POST', '/api/v1/nodes', { ...named('host'), status: { allocatable: { pods: '9' } } });
    await request('POST', '/api/v1/namespaces', named('later')); // another controller has answered to what came after it
    const account = '/api/v1/namespaces/later/serviceaccounts/default';
    await waitFor('its account', async () => (await request('GET', account)).code === 200);
    const { body } = await request('GET', `${pods}/one`);
    assert.equal(at(body, 'metadata', 'resourceVersion'), at(made.body, 'metadata', 'resourceVersion'));
  });
});
