import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestAuthority, dayMs } from '../identity/pki.ts';
import { admin, ask, cluster, connect, movableWall, servingBy, startServer } from './running-server.ts';

const path = '/checkpoint/default/web/app';
const foreign = await createTestAuthority('cluster');
const nodes = ['system:nodes'];

const strangers = {
  'without a certificate': undefined,
  'with a certificate of another authority of the same name': await foreign.issue(
    'admin',
    ['system:masters'],
    'client',
  ),
  'with an expired certificate': await cluster.issue('admin', ['system:masters'], 'client', {
    now: Date.now() - 31 * dayMs,
  }),
  'with a certificate that is valid only later': await cluster.issue('admin', ['system:masters'], 'client', {
    now: Date.now() + dayMs,
  }),
  'with a serving certificate': await cluster.issue('admin', ['system:masters'], 'server'),
  'without a name': await cluster.issue('', ['system:masters'], 'client'),
};

describe('who calls', () => {
  for (const [how, identity] of Object.entries(strangers)) {
    test(`${how} is 401, wherever it goes, and holds no connection`, async () => {
      await using server = await startServer();
      for (const place of [path, '/healthz', '/metrics', '/nowhere']) {
        using client = await connect(server.port, identity);
        const { code, body, headers } = await client.ask('POST', place);
        assert.deepEqual([code, body], [401, 'Unauthorized']);
        assert.equal(headers['connection'], 'close');
        await client.closed;
      }
      assert.equal(server.asked.length, 0);
    });
  }

  test('is never anonymous where every certificate will do', async () => {
    await using server = await startServer({ anyCertificate: () => true });
    assert.equal((await ask(server.port, 'POST', path)).code, 401);
    assert.equal((await ask(server.port, 'POST', path, strangers['with a serving certificate'])).code, 401);
  });

  test('is asked before a body is read', async () => {
    await using server = await startServer();
    using client = await connect(server.port);
    client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n`);
    assert.equal((await client.answer()).code, 401);
  });

  test('is forgotten when the certificate ends, on an open connection too', async () => {
    const clock = movableWall();
    await using server = await startServer({ clock });
    const short = await cluster.issue('admin', ['system:masters'], 'client', { lifetimeMs: dayMs });
    using client = await connect(server.port, short);
    assert.equal((await client.ask('POST', path)).code, 200);
    clock.moveMs = dayMs - 60_000;
    assert.equal((await client.ask('POST', path)).code, 200);
    clock.moveMs = dayMs;
    assert.equal((await client.ask('POST', path)).code, 401);
    await client.closed;
  });

  test('cannot come back by resuming a session after the certificate’s end', async () => {
    const clock = movableWall();
    await using server = await startServer({ clock });
    const short = await cluster.issue('admin', ['system:masters'], 'client', { lifetimeMs: dayMs });
    using client = await connect(server.port, short);
    const session = new Promise<Buffer>((resolve) => client.socket.once('session', resolve));
    assert.equal((await client.ask('POST', path)).code, 200);
    clock.moveMs = 2 * dayMs;
    using again = await connect(server.port, undefined, { session: await session });
    assert.equal((await again.ask('POST', path)).code, 401);
  });
});

describe('what they may', () => {
  test('is everything for system:masters', async () => {
    await using server = await startServer();
    assert.equal((await ask(server.port, 'POST', path, admin)).code, 200);
    const health = await ask(server.port, 'GET', '/healthz', admin);
    assert.deepEqual(
      [health.code, health.body, health.headers['content-type']],
      [200, 'ok', 'text/plain; charset=utf-8'],
    );
    assert.match((await ask(server.port, 'GET', '/metrics', admin)).body, /process_cpu/);
    const configz = await ask(server.port, 'GET', '/configz?origin=true', admin);
    assert.deepEqual(
      [configz.code, configz.headers['content-type']],
      [200, 'application/json; charset=utf-8'],
    );
    assert.deepEqual(JSON.parse(configz.body), { kubeletconfig: {}, asked: 'origin=true' });
    const none = await ask(server.port, 'GET', '/nowhere', admin);
    assert.deepEqual([none.code, none.body], [404, '404 page not found']);
  });

  test('is nothing for others, who are told what they asked for', async () => {
    await using server = await startServer();
    const node = await cluster.issue('system:node:node-b', nodes, 'client');
    const told = async (method: string, place: string) => {
      const { code, body, headers } = await ask(server.port, method, place, node);
      assert.equal(code, 403);
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
      return body;
    };
    const forbidden = (verb: string, subresources: string) =>
      `Forbidden (user=system:node:node-b, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])`;
    assert.equal(await told('POST', path), forbidden('create', 'checkpoint'));
    assert.equal(await told('GET', path), forbidden('get', 'checkpoint'));
    assert.equal(await told('GET', '/healthz?verbose'), forbidden('get', 'healthz proxy'));
    assert.equal(await told('GET', '/configz'), forbidden('get', 'configz proxy'));
    assert.equal(await told('GET', '/nowhere'), forbidden('get', 'proxy'));
    assert.equal(await told('POST', '/checkpoint/%zz/a/b'), forbidden('create', 'checkpoint'));
    assert.equal(server.asked.length, 0);
  });

  test('is everything for every certificate of the agent’s own authority in standalone mode', async () => {
    await using server = await startServer({ anyCertificate: () => true });
    const somebody = await cluster.issue('somebody', [], 'client');
    assert.equal((await ask(server.port, 'POST', path, somebody)).code, 200);
  });
});

test('what everybody may can change while the server runs', async () => {
  let all = false;
  await using server = await startServer({ anyCertificate: () => all });
  const somebody = await cluster.issue('somebody', [], 'client');
  assert.equal((await ask(server.port, 'GET', '/configz', somebody)).code, 403);
  all = true;
  assert.equal((await ask(server.port, 'GET', '/configz', somebody)).code, 200);
});

describe('a new certificate', () => {
  test('is shown to new connections, and open ones go on', async () => {
    await using server = await startServer();
    using before = await connect(server.port, admin);
    assert.equal((await before.ask('GET', '/healthz')).code, 200);
    const next = await servingBy(cluster);
    server.serving.set(next);
    using after = await connect(server.port, admin);
    assert.notEqual(
      after.socket.getPeerCertificate().serialNumber,
      before.socket.getPeerCertificate().serialNumber,
    );
    assert.equal((await before.ask('GET', '/healthz')).code, 200);
    assert.equal((await after.ask('GET', '/healthz')).code, 200);
  });

  test('of a new authority ends whom the old one has admitted', async () => {
    await using server = await startServer();
    using before = await connect(server.port, admin);
    const session = new Promise<Buffer>((resolve) => before.socket.once('session', resolve));
    assert.equal((await before.ask('GET', '/healthz')).code, 200);
    server.serving.set(await servingBy(foreign));
    await before.closed;
    const trusting = { ca: foreign.ca };
    using again = await connect(server.port, admin, { ...trusting, session: await session });
    assert.equal((await again.ask('GET', '/healthz')).code, 401);
    const known = await foreign.issue('admin', ['system:masters'], 'client');
    using other = await connect(server.port, known, trusting);
    assert.equal((await other.ask('GET', '/healthz')).code, 200);
  });

  test('that cannot be used leaves the old one in place', async () => {
    await using server = await startServer();
    const { clientCa } = await servingBy(cluster);
    assert.throws(() => server.serving.set({ pair: { cert: 'rubbish', key: 'rubbish' }, clientCa }));
    assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
  });
});
