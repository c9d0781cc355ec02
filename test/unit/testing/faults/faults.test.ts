import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { after, afterEach, before, describe, test } from 'node:test';
import type { TestApiServer } from '../../../../src/testing/index.ts';
import { startApiServer } from '../../../../src/testing/index.ts';
import { waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import type { ApiTester } from '../../apiserver/support/index.ts';
import { configMaps, named } from '../../apiserver/support/index.ts';
import { testerOf } from '../tester.ts';

const maps = configMaps('default');
let server: TestApiServer;
let admin: ApiTester & Disposable;

before(async () => {
  server = await startApiServer();
  admin = await testerOf(server);
});
afterEach(() => server.faults.clear());
after(async () => {
  admin?.close();
  await server?.close();
});

const nameFor = (what: string) => `${what}-${crypto.randomUUID().slice(0, 8)}`;

describe('an answer instead of the real one', () => {
  test('tells when to come again, as often as it is to, and nothing is done meanwhile', async () => {
    const name = nameFor('busy');
    const fault = server.faults.answer({
      status: 429,
      retryAfterSeconds: 7,
      times: 2,
      match: { verb: 'create' },
    });
    for (const hits of [1, 2]) {
      const { reply, details } = await admin.refused('TooManyRequests', 'POST', maps, { body: named(name) });
      assert.equal(reply.headers['retry-after'], '7');
      assert.equal(details?.retryAfterSeconds, 7);
      assert.equal(fault.hits, hits);
      await admin.refused('NotFound', 'GET', `${maps}/${name}`);
    }
    await admin.must('POST', maps, named(name));
    assert.equal(fault.hits, 2);
  });

  test('has the reason that its status mostly has, or the one that is given', async () => {
    const reasons = [
      [409, 'Conflict'],
      [500, 'InternalError'],
      [503, 'ServiceUnavailable'],
      [504, 'Timeout'],
    ] as const;
    for (const [status, reason] of reasons) {
      using _fault = server.faults.answer({ status });
      await admin.refused(reason, 'GET', maps);
    }
    server.faults.answer({ status: 409, reason: 'AlreadyExists', message: 'somebody was faster' });
    const { message } = await admin.refused('AlreadyExists', 'POST', maps, { body: named('any') });
    assert.equal(message, 'somebody was faster');
  });

  test('is none that this API never gives', () => {
    assert.throws(() => server.faults.answer({ status: 418 }), /cannot answer 418: use one of 400, /);
    assert.throws(
      () => server.faults.answer({ status: 500, reason: 'Conflict' }),
      /no reason for status 500/,
    );
    assert.throws(() => server.faults.answer({ status: 429, retryAfterSeconds: 0.5 }), /whole number/);
  });

  test('hits what is asked for, by part, by pattern or by function', async () => {
    const { answer } = server.faults;
    const name = nameFor('one');
    await admin.must('POST', maps, named(name));
    const set = (match: Parameters<typeof answer>[0]['match']) =>
      server.faults.answer({ status: 503, ...(match === undefined ? {} : { match }) });

    using byName = set({ resource: 'configmaps', namespace: 'default', name });
    await admin.refused('ServiceUnavailable', 'GET', `${maps}/${name}`);
    assert.equal((await admin.request('GET', maps)).code, 200);
    byName.clear();
    using byPath = set({ path: /^\/openapi/ });
    assert.equal((await admin.request('GET', '/openapi/v3')).code, 503);
    assert.equal((await admin.request('GET', '/version')).code, 200);
    byPath.clear();
    using _byFunction = set(({ query }) => query['limit'] === '1');
    assert.equal((await admin.request('GET', `${maps}?limit=1`)).code, 503);
    assert.equal((await admin.request('GET', `${maps}?limit=2`)).code, 200);
  });
});

describe('a delay', () => {
  test('holds requests back until its time is over by the clock of the server', async () => {
    const clock = createManualClock();
    await using slow = await startApiServer({ clock });
    const client = await slow.client();
    const fault = slow.faults.delay({ ms: 5000, match: { resource: 'configmaps' } });
    let answered = false;
    const answer = client.request('GET', maps).finally(() => {
      answered = true;
    });
    await waitFor('the request', () => fault.hits === 1);

    await clock.advance(4999);
    assert.equal((await client.request('GET', '/version')).code, 200, 'others are not held');
    assert.equal(answered, false);

    await clock.advance(1);
    assert.equal((await answer).code, 200);
  });

  test('lets go on what it holds when it is cleared', async () => {
    const fault = server.faults.delay({ ms: 3_600_000 });
    const answer = admin.request('GET', maps);
    await waitFor('the request', () => fault.hits === 1);
    fault.clear();
    assert.equal((await answer).code, 200);
  });
});

describe('watches', () => {
  test('are cut where they match, and the others go on', async () => {
    using cut = await admin.watch(maps);
    using whole = await admin.watch('/api/v1/secrets');
    assert.equal(server.faults.dropWatches({ resource: 'configmaps' }), 1);
    await cut.ended;
    assert.equal(cut.isComplete, false);

    await admin.must('POST', '/api/v1/namespaces/default/secrets', named(nameFor('still')));
    await whole.next();
    assert.equal(server.faults.dropWatches(), 1);
    await whole.ended;
    assert.equal(server.faults.dropWatches(), 0);
  });
});

describe('watches over HTTP/2', () => {
  test('are cut with the connection that they share', async () => {
    await using multiplexing = await startApiServer({ http2: true });
    const { url, ca, cert, key } = await multiplexing.client();
    const session = connect(url, { ca, cert, key });
    session.on('error', () => undefined);
    const closed = once(session, 'close');
    for (const resource of ['configmaps', 'secrets']) {
      const stream = session.request({ ':path': `/api/v1/${resource}?watch=1` });
      stream.on('error', () => undefined);
      await once(stream, 'response');
    }

    assert.equal(multiplexing.faults.dropWatches(), 2);

    await closed;
    assert.equal(multiplexing.faults.dropWatches(), 0);
  });
});

describe('history that is gone', () => {
  test('ends open watches, and whoever goes on from before is told 410; the objects are all there', async () => {
    const made = await admin.must('POST', maps, named(nameFor('old')));
    const version = String(made.metadata.resourceVersion);
    using open = await admin.watch(`${maps}?resourceVersion=${version}`);

    const oldest = await server.faults.expireHistory();

    const { type, object } = await open.next();
    assert.deepEqual([type, object.reason, object.code], ['ERROR', 'Expired', 410]);
    await open.ended;
    const late = await admin.request('GET', `${maps}?watch=1&resourceVersion=${version}`);
    assert.match(late.text, /"reason":"Expired"/);
    const exact = `${maps}?resourceVersion=${version}&resourceVersionMatch=Exact`;
    await admin.refused('Expired', 'GET', exact);
    assert.deepEqual(await admin.must('GET', `${maps}/${made.metadata.name}`), made);

    using fresh = await admin.watch(`${maps}?resourceVersion=${oldest}`);
    const next = await admin.must('POST', maps, named(nameFor('new')));
    assert.deepEqual(await fresh.take(1), [`ADDED ${next.metadata.name}`]);
  });

  test('can go again and again, with writes meanwhile', async () => {
    const versions: number[] = [];
    for (let round = 0; round < 5; round++) {
      const [one, other] = await Promise.all([
        server.faults.expireHistory(),
        server.faults.expireHistory(),
        admin.must('POST', maps, named(nameFor('during'))),
      ]);
      versions.push(Number(one), Number(other));
    }
    assert.deepEqual(
      versions,
      versions.toSorted((one, other) => one - other),
    );
  });
});

describe('a store that fails', () => {
  test('without room: writes are refused, reads and watches go on, and so do writes later', async () => {
    const name = nameFor('full');
    using watch = await admin.watch(maps);
    {
      using full = server.faults.diskFull();
      const { message, reply } = await admin.refused('ServiceUnavailable', 'POST', maps, {
        body: named(name),
      });
      assert.match(message ?? '', /no room/);
      assert.ok(reply.headers['retry-after']);
      assert.equal((await admin.request('GET', maps)).code, 200);
      assert.ok(full.hits >= 1);
    }
    await admin.must('POST', maps, named(name));
    await waitFor('the event', async () => (await watch.next()).object.metadata.name === name);
  });

  test('with an unknown outcome, having written or not', async () => {
    const [kept, lost] = [nameFor('kept'), nameFor('lost')];
    server.faults.failStorage({ how: 'unknown', written: true, match: { name: kept } });
    server.faults.failStorage({ how: 'unknown', match: { name: lost } });
    await admin.refused('Timeout', 'POST', maps, { body: named(kept) });
    await admin.refused('Timeout', 'POST', maps, { body: named(lost) });
    assert.equal((await admin.request('GET', `${maps}/${kept}`)).code, 200);
    await admin.refused('NotFound', 'GET', `${maps}/${lost}`);
  });

  test('for one sort of write only', async () => {
    const name = nameFor('written');
    const made = await admin.must('POST', maps, named(name));
    const fault = server.faults.failStorage({
      how: 'unavailable',
      times: 1,
      match: { resource: 'configmaps', namespace: 'default', verb: /update|delete/ },
    });
    await admin.must('POST', maps, named(nameFor('other')));
    await admin.refused('ServiceUnavailable', 'PUT', `${maps}/${name}`, {
      body: { ...made, data: { a: 'b' } },
    });
    assert.equal(fault.hits, 1);
    await admin.must('DELETE', `${maps}/${name}`);
  });
});
