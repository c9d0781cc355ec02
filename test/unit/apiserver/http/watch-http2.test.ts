import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { after, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { waitFor } from '../../../support/index.ts';
import { bellClock, configMaps, lease, leases, named, nodes, startServer } from '../support/index.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { Http2Client } from './http2-client.ts';
import { frame, openAndReset, preface } from './http2-frames.ts';

const maps = configMaps('default');
const path = leases('default');
const json = (object: object) => JSON.stringify(object);
const asJson = { 'content-type': 'application/json' };
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const protobuf = { accept: 'application/vnd.kubernetes.protobuf' };

const server = await startServer({ http2: true });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const open = () => Http2Client.open(admin.tlsOptions);

/** What a client that offers these protocols gets. */
async function chosen(port: number, ca: string, ALPNProtocols: string[]): Promise<string | false | null> {
  const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols });
  try {
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return socket.alpnProtocol;
  } finally {
    socket.destroy();
  }
}

describe('HTTP/2', () => {
  test('is offered beside HTTP/1.1 when it is switched on, and only then', async () => {
    const both = ['h2', 'http/1.1'];
    assert.equal(await chosen(server.port, server.running.ca, both), 'h2');
    assert.equal(await chosen(server.port, server.running.ca, ['http/1.1']), 'http/1.1');
    await using plain = await startServer();
    assert.equal(await chosen(plain.port, plain.running.ca, both), 'http/1.1');
    assert.equal((await admin.request('GET', nodes)).code, 200, 'HTTP/1.1 on the same port');
  });

  test('serves every verb, with the identity of its connection', async () => {
    using client = await open();
    const created = await client.send('POST', maps, json(named('verbs')), asJson);
    assert.equal(created.code, 201, created.text);
    const replaced = await client.send('PUT', `${maps}/verbs`, json({ ...named('verbs'), data: { a: 'b' } }));
    assert.equal(replaced.code, 200, `a body that nothing is said of is JSON: ${replaced.text}`);
    assert.equal(JSON.parse((await client.send('GET', `${maps}/verbs`)).text).data.a, 'b');
    const { items } = JSON.parse((await client.send('GET', maps)).text);
    assert.ok(items.length > 0);
    const merge = { 'content-type': 'application/merge-patch+json' };
    const patched = await client.send('PATCH', `${maps}/verbs`, json({ data: { a: 'c' } }), merge);
    assert.equal(patched.code, 200, patched.text);
    assert.equal(JSON.parse(patched.text).data.a, 'c');
    assert.equal((await client.send('DELETE', `${maps}/verbs`)).code, 200);
    assert.equal((await client.send('PATCH', `${maps}/verbs`, '{}', asJson)).code, 415);
    const { code, text } = await client.send('GET', `${maps}/verbs`);
    assert.deepEqual([code, JSON.parse(text).reason], [404, 'NotFound']);
    using nobody = await Http2Client.open(server.nobody.tlsOptions);
    assert.equal((await nobody.send('GET', maps)).code, 401);
    using stranger = await Http2Client.open(server.stranger.tlsOptions);
    assert.equal((await stranger.send('GET', maps)).code, 403);
  });

  test('has the bounds of HTTP/1.1 for bodies and heads', async () => {
    using client = await open();
    const large = json({ ...named('large'), data: { a: 'x'.repeat(4 * 1024 * 1024) } });
    assert.equal((await client.send('POST', maps, large, asJson)).code, 413);
    using other = await open();
    const stream = other.open(maps, { 'x-long': 'x'.repeat(40_000) });
    await stream.untilClosed();
    const code = await stream.headers.then(
      (headers) => headers[':status'],
      () => undefined,
    );
    assert.ok(code === undefined || code === 431, `answered ${code}`);
    assert.equal((await client.send('GET', nodes)).code, 200, 'others go on');
  });

  test('announces how many requests may run at once on a connection', async () => {
    using client = await open();
    assert.equal(client.session.remoteSettings.maxConcurrentStreams, 100);
  });

  test('tunnels nothing', async () => {
    using client = await open();
    const stream = client.session.request({ ':method': 'CONNECT', ':authority': 'example.com:443' });
    stream.on('error', () => undefined);
    const code = await new Promise((resolve) => {
      stream.once('response', (headers) => resolve(headers[':status']));
      stream.once('close', () => resolve('closed'));
    });
    assert.ok([405, 'closed'].includes(code as number), String(code));
    assert.equal((await client.send('GET', nodes)).code, 200);
  });
});

/** How long a watcher may take nothing of what is there for it. */
const stallMs = 30_000;

describe('a watch over HTTP/2', () => {
  test('shows what one over HTTP/1.1 shows, in every encoding', async () => {
    const { metadata } = await admin.must('GET', maps);
    const made = await admin.must('POST', maps, named('same'));
    await admin.must('PUT', `${maps}/same`, { ...made, data: { a: 'b' } });
    await admin.request('DELETE', `${maps}/same`);
    const query = `${maps}?watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
    using client = await open();
    const pairs = [{}, table, protobuf].map((headers) =>
      Promise.all([admin.request('GET', query, { headers }), client.open(query, headers).untilClosed()]),
    );
    for (const [one, other] of await Promise.all(pairs)) {
      assert.deepEqual(other.bytes, one.bytes);
      assert.ok(other.ended && other.raw.rstCode === constants.NGHTTP2_NO_ERROR, 'ended in order');
      const told = await other.headers;
      assert.equal(told['content-type'], one.headers['content-type']);
      assert.equal(told['transfer-encoding'], undefined);
    }
  });

  test('ends when its client resets it, and nothing is left behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    using client = await open();
    await client.send('GET', nodes);
    const before = timers();
    const streams = await Promise.all(Array.from({ length: 40 }, () => client.watch(path)));
    assert.ok(timers() >= before + 40, 'each waits for its end');
    for (const { raw } of streams) raw.close(constants.NGHTTP2_CANCEL);
    // and some that are reset before they have begun
    for (let count = 0; count < 40; count += 1)
      client.open(`${path}?watch=1`).raw.close(constants.NGHTTP2_CANCEL);
    await waitFor('all timers to be gone', () => timers() <= before + 2);
    assert.equal((await client.send('GET', nodes)).code, 200);
  });

  test('that nobody reads harms no other on the same connection, and is cut off', async () => {
    // nobody is cut off before the bell rings, however long the machine takes to feed the quick one
    const clock = bellClock(stallMs);
    await using patient = await startServer({ http2: true, clock });
    using client = await Http2Client.open(patient.admin.tlsOptions);
    const before = clock.sleepers;
    const first = await patient.admin.must('POST', maps, named('big'));
    const query = `${maps}?resourceVersion=${first.metadata.resourceVersion}`;
    const slow = await client.watch(query);
    const quick = await client.watch(query);
    slow.raw.pause();
    const annotations = { a: 'x'.repeat(200_000) };
    for (let round = 1; round <= 40; round += 1) {
      await patient.admin.must('PUT', `${maps}/big`, {
        ...named('big', { annotations }),
        data: { a: `${round}` },
      });
      await waitFor('the reader that reads to have it', () => quick.length >= round * 200_000);
    }
    await waitFor('only the slow one to stand still', () => clock.sleepers <= before + 1);
    clock.ring();
    await waitFor('the log to tell', () => /too far behind/.test(patient.logged()));
    slow.raw.resume();
    await slow.untilClosed();
    assert.notEqual(slow.raw.rstCode, constants.NGHTTP2_NO_ERROR, 'cut, not ended');
    assert.ok(!quick.closed);
    assert.equal((await client.send('GET', nodes)).code, 200);
  });

  test('has company: 1,000 on ten connections all hear of a change', async () => {
    const { metadata } = await admin.must('GET', path);
    const clients = await Promise.all(Array.from({ length: 10 }, open));
    try {
      const query = `${path}?resourceVersion=${metadata.resourceVersion}`;
      const hundreds = clients.map((client) => Array.from({ length: 100 }, () => client.watch(query)));
      const streams = await Promise.all(hundreds.flat());
      await admin.must('POST', path, lease('heard'));
      await waitFor('everybody to hear', () => streams.every(({ length }) => length > 0));
      for (const { events } of streams) {
        assert.deepEqual(
          events.map(({ type, object }) => `${type} ${object.metadata.name}`),
          ['ADDED heard'],
        );
      }
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  });
});

describe('a client that opens and resets without end', () => {
  test('loses its connection, and the others go on', async () => {
    using polite = await open();
    const { metadata } = await admin.must('GET', path);
    const watch = await polite.watch(`${path}?resourceVersion=${metadata.resourceVersion}`);
    using rude = await RawConnection.open({ ...admin.tlsOptions, ALPNProtocols: ['h2'] });
    rude.write(Buffer.concat([preface, frame('settings', 0, 0)]));
    let opened = 0;
    while (!rude.closed && opened < 5_000) {
      const streams = Array.from({ length: 50 }, () => openAndReset(2 * opened++ + 1, `${path}?watch=1`));
      rude.write(Buffer.concat(streams));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await rude.untilClosed();
    assert.ok(opened < 5_000, `${opened} were taken`);
    await admin.must('POST', path, lease('goes-on'));
    await watch.untilEvents(1);
  });
});

describe('the stop of a server', () => {
  test('ends watches of both protocols in order, and then their connections', async () => {
    await using stopped = await startServer({ http2: true });
    using client = await Http2Client.open(stopped.admin.tlsOptions);
    using idle = await Http2Client.open(stopped.admin.tlsOptions);
    const streams = await Promise.all([{}, table, protobuf].map((headers) => client.watch(path, headers)));
    const watches = await Promise.all([{}, table].map((headers) => stopped.admin.watch(path, headers)));
    const tookMs = await stopped.stop();
    assert.ok(tookMs < 1500, `${tookMs} ms`);
    for (const stream of streams) {
      await stream.untilClosed();
      assert.ok(stream.ended && stream.raw.rstCode === constants.NGHTTP2_NO_ERROR, 'ended in order');
    }
    for (const watch of watches) {
      await watch.ended;
      assert.ok(watch.isComplete);
    }
    for (const { session, goaway } of [client, idle]) {
      await waitFor('the connection to be closed', () => session.destroyed);
      assert.equal(goaway, constants.NGHTTP2_NO_ERROR);
    }
  });
});
