import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AccessSettings } from '../../../../../src/agent/server/access/index.ts';
import { createAccess } from '../../../../../src/agent/server/access/index.ts';
import { parseBearerToken } from '../../../../../src/agent/server/access/tokens.ts';
import { StatusError } from '../../../../../src/api/index.ts';
import { createMetrics, systemClock } from '../../../../../src/base/index.ts';
import { ConnectionError } from '../../../../../src/client/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { recordedLog } from '../../../base/recorded-log.ts';
import { admin, ask, cluster, connect, startServer } from '../running-server.ts';
import { standInControlPlane } from './stand-in-control-plane.ts';

const defaults: AccessSettings = {
  tokens: true,
  tokenTtlMs: 120_000,
  anonymous: false,
  alwaysAllow: false,
  allowedTtlMs: 300_000,
  deniedTtlMs: 30_000,
};
const ann = { name: 'ann', uid: '7', groups: ['dev', 'system:authenticated'], extra: { scopes: ['a'] } };
const getMetrics = { verb: 'get', subresources: ['metrics'] };

function accessOf(clock = createManualClock(), timeoutMs?: number) {
  const standIn = standInControlPlane();
  const metrics = createMetrics();
  const { log, text } = recordedLog();
  const settings = { ...defaults };
  const access = createAccess({
    nodeName: 'node-a',
    settings: () => settings,
    control: standIn.control,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    metrics,
    clock,
    log,
  });
  return { access, standIn, clock, settings, log: text, metrics };
}

describe('what callers may', () => {
  test('is asked of the control plane, with all that is known of them', async () => {
    const { access, standIn } = accessOf();
    standIn.allowed.add('ann get metrics');
    assert.deepEqual(await access.authorize(ann, getMetrics), { decision: 'allow' });
    assert.deepEqual(standIn.asked.permissions, [
      {
        resourceAttributes: {
          verb: 'get',
          version: 'v1',
          resource: 'nodes',
          subresource: 'metrics',
          name: 'node-a',
        },
        user: 'ann',
        groups: ['dev', 'system:authenticated'],
        uid: '7',
        extra: { scopes: ['a'] },
      },
    ]);
  });

  test('counts for five minutes when it is a yes, and for half a minute when it is a no', async () => {
    const { access, standIn, clock } = accessOf();
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'deny');
    standIn.allowed.add('ann get metrics');
    await clock.advance(29_999);
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'deny');
    await clock.advance(1);
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'allow');
    standIn.allowed.clear();
    await clock.advance(299_999);
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'allow');
    await clock.advance(1);
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'deny');
    assert.equal(standIn.asked.permissions.length, 3);
  });

  test('is not mixed up between callers who differ in anything', async () => {
    const { access, standIn } = accessOf();
    const others = [ann, { ...ann, uid: '8' }, { ...ann, groups: ['ops'] }, { ...ann, extra: {} }];
    for (const caller of others) await access.authorize(caller, getMetrics);
    await access.authorize(ann, { ...getMetrics, verb: 'create' });
    assert.equal(standIn.asked.permissions.length, 5);
  });

  test('is had by one of several subresources, the finest first', async () => {
    const { access, standIn } = accessOf();
    const pods = { verb: 'get', subresources: ['pods', 'proxy'] };
    standIn.allowed.add('ann get proxy');
    assert.equal((await access.authorize(ann, pods)).decision, 'allow');
    assert.equal(standIn.asked.permissions.length, 2);
    standIn.allowed.add('bob get pods');
    assert.equal((await access.authorize({ ...ann, name: 'bob' }, pods)).decision, 'allow');
    assert.equal(standIn.asked.permissions.length, 3);
  });

  test('is never allowed while the control plane is away, and the next who asks may ask again', async () => {
    const { access, standIn, metrics } = accessOf(undefined, 100);
    standIn.allowed.add('ann get metrics');
    standIn.before = () => Promise.reject(new StatusError('Forbidden', 'nodes may not'));
    assert.deepEqual(await access.authorize(ann, getMetrics), {
      decision: 'unknown',
      message: 'the control plane does not let this node ask for reviews',
    });
    standIn.before = () => Promise.resolve();
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'allow');
    const told = await metrics.metrics();
    assert.match(told, /nodeward_agent_reviews_total\{review="access",result="failed"\} 1\n/);
    assert.match(told, /nodeward_agent_reviews_total\{review="access",result="yes"\} 1\n/);
  });

  test('is asked for again, twice, where a connection broke', async () => {
    const { access, standIn, clock } = accessOf();
    standIn.allowed.add('ann get metrics');
    let failures = 2;
    standIn.before = async () => {
      failures -= 1;
      if (failures >= 0) throw new ConnectionError('broken', 'it had been idle for long');
    };
    const answer = access.authorize(ann, getMetrics);
    await clock.advance(1000);
    assert.equal((await answer).decision, 'allow');
    assert.equal(standIn.asked.permissions.length, 3);
  });

  test('is known after five seconds at the latest, or not at all', async () => {
    const { access, standIn, clock } = accessOf();
    standIn.before = () => new Promise(() => undefined);
    const answer = access.authorize(ann, { verb: 'get', subresources: ['pods', 'proxy'] });
    let settled = false;
    void answer.then(() => {
      settled = true;
    });
    await clock.advance(4999);
    assert.equal(settled, false);
    await clock.advance(1);
    const { decision } = await answer;
    assert.equal(decision, 'unknown');
    assert.equal(standIn.asked.permissions.length, 1, 'the next would wait as long');
  });

  test('is everything for system:masters, without a question', async () => {
    const { access, standIn } = accessOf();
    standIn.before = () => new Promise(() => undefined);
    const master = { ...ann, groups: ['system:masters'] };
    assert.equal((await access.authorize(master, getMetrics)).decision, 'allow');
    assert.equal(standIn.asked.permissions.length, 0);
  });

  test('changes with the settings, at once', async () => {
    const { access, settings } = accessOf();
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'deny');
    Object.assign(settings, { alwaysAllow: true });
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'allow');
    Object.assign(settings, { alwaysAllow: false });
    assert.equal((await access.authorize(ann, getMetrics)).decision, 'deny');
  });
});

describe('a bearer token', () => {
  const bearer = (token: string) => `Authorization: Bearer ${token}`;

  test('tells who calls, whom the control plane is then asked about', async () => {
    await using server = await startServer();
    server.reviews.tokens.set('t1', { username: 'ann', uid: '7', groups: ['dev'], extra: { scopes: ['a'] } });
    server.reviews.allowed.add('ann get metrics');
    using client = await connect(server.port);
    assert.equal((await client.ask('GET', '/metrics', bearer('t1'))).code, 200);
    const [spec] = server.reviews.asked.permissions;
    assert.deepEqual([spec?.user, spec?.uid, spec?.groups], ['ann', '7', ['dev', 'system:authenticated']]);
    assert.deepEqual(spec?.extra, { scopes: ['a'] });
    const forbidden = await client.ask('GET', '/configz', bearer('t1'));
    assert.equal(forbidden.code, 403);
    assert.equal(
      forbidden.body,
      'Forbidden (user=ann, verb=get, resource=nodes, subresource(s)=[configz proxy])',
    );
    assert.deepEqual(server.reviews.asked.tokens[0], { token: 't1' }, 'for no audience in particular');
  });

  test('that the control plane does not know is 401, and so is one that is switched off', async () => {
    let tokens = true;
    await using server = await startServer({ settings: () => ({ tokens }) });
    const asking = async (header: string) => {
      using client = await connect(server.port);
      const { code, body } = await client.ask('GET', '/metrics', header);
      return [code, body];
    };
    assert.deepEqual(await asking(bearer('unknown')), [401, 'Unauthorized']);
    assert.deepEqual(await asking('Authorization: Basic YTpi'), [401, 'Unauthorized']);
    tokens = false;
    server.reviews.tokens.set('t1', { username: 'ann' });
    assert.deepEqual(await asking(bearer('t1')), [401, 'Unauthorized']);
    assert.equal(server.reviews.asked.tokens.length, 1);
  });

  test('without anybody in it is nobody’s', async () => {
    await using server = await startServer();
    server.reviews.tokens.set('t1', { username: '', groups: ['system:masters'] });
    using client = await connect(server.port);
    assert.equal((await client.ask('GET', '/metrics', bearer('t1'))).code, 401);
  });

  test('does not count beside a good certificate, and does beside a bad one', async () => {
    await using server = await startServer();
    server.reviews.tokens.set('t1', { username: 'ann', groups: ['system:masters'] });
    using known = await connect(server.port, await cluster.issue('bob', [], 'client'));
    assert.match((await known.ask('GET', '/metrics', bearer('t1'))).body, /user=bob/);
    using bad = await connect(server.port, await cluster.issue('bob', [], 'server'));
    assert.equal((await bad.ask('GET', '/metrics', bearer('t1'))).code, 200);
  });

  test('is 503 while the control plane is away, and certificates go on', async () => {
    await using server = await startServer();
    server.reviews.before = () =>
      Promise.reject(new ConnectionError('timeout', 'https://10.0.0.1 is silent'));
    using client = await connect(server.port);
    const { code, body } = await client.ask('GET', '/metrics', bearer('t1'));
    assert.equal(code, 503);
    assert.match(body, /^the bearer token cannot be reviewed: /);
    assert.doesNotMatch(body, /10\.0\.0\.1/);
    assert.equal((await ask(server.port, 'GET', '/metrics', admin)).code, 200);
    const somebody = await cluster.issue('bob', [], 'client');
    const unknown = await ask(server.port, 'GET', '/metrics', somebody);
    assert.equal(unknown.code, 503);
    assert.match(unknown.body, /^Authorization error \(user=bob, verb=get, resource=nodes, /);
  });

  test('is reviewed once for a thousand who show it, and again when its time is over', async () => {
    const { access, standIn, clock } = accessOf();
    standIn.tokens.set('t1', { username: 'ann' });
    await using server = await startServer({ access });
    using client = await connect(server.port);
    for (let n = 0; n < 20; n += 1) await client.ask('GET', '/metrics', bearer('t1'));
    assert.equal(standIn.asked.tokens.length, 1);
    standIn.tokens.clear();
    await clock.advance(120_000);
    assert.equal((await client.ask('GET', '/metrics', bearer('t1'))).code, 401);
  });

  test('that was refused is remembered for ten seconds', async () => {
    const { access, standIn, clock } = accessOf();
    await using server = await startServer({ access });
    const code = async () => {
      using client = await connect(server.port);
      return (await client.ask('GET', '/metrics', bearer('t1'))).code;
    };
    assert.equal(await code(), 401);
    standIn.tokens.set('t1', { username: 'ann', groups: ['system:masters'] });
    assert.equal(await code(), 401);
    await clock.advance(10_000);
    assert.equal(await code(), 200);
  });

  test('is what stands behind Bearer, and nothing else is', () => {
    assert.equal(parseBearerToken('Bearer a.b-c_d~e+f/g='), 'a.b-c_d~e+f/g=');
    assert.equal(parseBearerToken('bearer   x  '), 'x');
    for (const none of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer a b',
      'Bearer a,b',
      'Basic a',
      'xBearer a',
    ])
      assert.equal(parseBearerToken(none), undefined, String(none));
  });
});

describe('who shows nothing', () => {
  test('is nobody, unless the settings let such in', async () => {
    let anonymous = false;
    await using server = await startServer({ settings: () => ({ anonymous }) });
    assert.equal((await ask(server.port, 'GET', '/healthz')).code, 401);
    anonymous = true;
    server.reviews.allowed.add('system:anonymous get healthz');
    assert.equal((await ask(server.port, 'GET', '/healthz')).code, 200);
    assert.match((await ask(server.port, 'GET', '/metrics')).body, /^Forbidden \(user=system:anonymous, /);
    assert.deepEqual(server.reviews.asked.permissions[0]?.groups, ['system:unauthenticated']);
  });

  test('is not whoever shows something that is bad', async () => {
    await using server = await startServer({ settings: () => ({ anonymous: true, alwaysAllow: true }) });
    assert.equal((await ask(server.port, 'GET', '/healthz')).code, 200);
    const bad = await cluster.issue('bob', [], 'server');
    assert.equal((await ask(server.port, 'GET', '/healthz', bad)).code, 401);
    using client = await connect(server.port);
    assert.equal((await client.ask('GET', '/healthz', 'Authorization: Bearer wrong')).code, 401);
    using other = await connect(server.port);
    assert.equal((await other.ask('GET', '/healthz', 'Authorization: Basic YTpi')).code, 401);
  });
});

test('strangers can make the agent ask only so much at once', async () => {
  const { access, standIn } = accessOf();
  standIn.before = () => new Promise(() => undefined);
  await using server = await startServer({ access });
  const clients = await Promise.all(Array.from({ length: 80 }, () => connect(server.port)));
  try {
    clients.forEach((client, n) => {
      client.send(`GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t${n}\r\n\r\n`);
    });
    const refused = await Promise.any(clients.map((client) => client.answer()));
    assert.equal(refused.code, 503);
    await waitFor('the reviews', () => standIn.asked.tokens.length === 64);
    assert.equal((await ask(server.port, 'GET', '/metrics', admin)).code, 200);
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
});

test('no token stands in the log or in the figures', async () => {
  const { access, standIn, log, metrics } = accessOf(undefined);
  standIn.before = () => Promise.reject(new StatusError('Invalid', 'no'));
  await using server = await startServer({ access, clock: systemClock });
  using client = await connect(server.port);
  await client.ask('GET', '/metrics', 'Authorization: Bearer hush-hush');
  assert.doesNotMatch(log() + server.log() + (await metrics.metrics()), /hush/);
});
