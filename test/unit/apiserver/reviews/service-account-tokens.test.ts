import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { partsOf, tampered } from '../authn/token-bench.ts';
import type { ApiTester, Reply, Shown } from '../support/index.ts';
import { foreignMaster, named, nodes, shiftedClock, startServer } from '../support/index.ts';
import { authentication } from './ask.ts';

const clock = shiftedClock();
const server = await startServer({ clock });
after(() => server[Symbol.asyncDispose]());

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const secrets = '/api/v1/namespaces/default/secrets';
const pods = '/api/v1/namespaces/default/pods';
const issuer = 'https://kubernetes.default.svc.cluster.local';

async function account(name: string): Promise<Shown> {
  return await server.admin.must('POST', accounts, named(name));
}

interface Issued {
  token: string;
  answer: Shown;
}

async function tokenOf(name: string, spec: object = {}): Promise<Issued> {
  const answer = await server.admin.must('POST', `${accounts}/${name}/token`, { spec });
  const token = answer.status?.['token'];
  assert.ok(typeof token === 'string');
  return { token, answer };
}

const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** Who the server takes somebody for who has nothing but a token. */
async function whoIs(token: string): Promise<Reply> {
  const path = `${authentication}/selfsubjectreviews`;
  return await server.nobody.request('POST', path, { ...bearing(token), body: {} });
}

async function review(token: string, audiences: string[] = []) {
  const { status } = await server.admin.must('POST', `${authentication}/tokenreviews`, {
    spec: { token, audiences },
  });
  return status;
}

describe('a token of a service account', () => {
  test('lets its bearer in as that account', async () => {
    const { metadata } = await account('builder');
    const { token, answer } = await tokenOf('builder');
    const { payload } = partsOf(token);
    assert.deepEqual(JSON.parse((await whoIs(token)).text).status, {
      userInfo: {
        username: 'system:serviceaccount:default:builder',
        uid: metadata.uid,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${payload['jti']}`] },
      },
    });
    const { spec, status } = answer;
    assert.deepEqual(spec, { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null });
    assert.equal(Date.parse(String(status?.['expirationTimestamp'])) / 1000, payload['exp']);
    assert.deepEqual([answer.kind, answer.apiVersion], ['TokenRequest', 'authentication.k8s.io/v1']);
    assert.deepEqual([answer.metadata.name, answer.metadata.namespace], ['builder', 'default']);
  });

  test('lets nobody in whom it is not for, and gives no rights', async () => {
    await account('limited');
    const forVault = await tokenOf('limited', { audiences: ['vault'] });
    assert.equal((await whoIs(forVault.token)).code, 401);
    const { token } = await tokenOf('limited');
    await server.nobody.refused('Forbidden', 'GET', nodes, bearing(token));
    assert.equal((await server.nobody.request('GET', '/api', bearing(token))).code, 200);
  });

  test('is good however long its audiences are, or there is none', async () => {
    await account('long-winded');
    const path = `${accounts}/long-winded/token`;
    const filler = (count: number, bytes: number) => Array.from({ length: count }, () => 'x'.repeat(bytes));
    const longest = [issuer, ...filler(98, 40), 'y'.repeat(4096 - 98 * 40 - issuer.length)];
    assert.equal(longest.join('').length, 4096);
    const { token } = await tokenOf('long-winded', { audiences: longest });
    assert.ok(token.length > 6000);
    assert.equal((await whoIs(token)).code, 201);
    assert.equal((await review(token, longest.slice(-1)))?.['authenticated'], true);
    for (const audiences of [filler(5000, 8), filler(2, 2049), filler(101, 1), ['a"b'], ['a\\b']]) {
      await server.admin.refused('Invalid', 'POST', path, { body: { spec: { audiences } } });
    }
  });

  test('that is forged or no token is answered with 401', async () => {
    await account('forged');
    const { token } = await tokenOf('forged');
    const forgery = tampered(token, { payload: { sub: 'system:serviceaccount:default:builder' } });
    const unsigned = tampered(token, { header: { alg: 'none' } });
    for (const bad of [forgery, unsigned, `${token}a`, 'abc', 'a.b.c', '..']) {
      const { reply } = await server.nobody.refused('Unauthorized', 'GET', nodes, bearing(bad));
      assert.match(String(reply.headers['www-authenticate']), /^Bearer/);
      assert.ok(!reply.text.includes(bad), 'and not shown');
    }
    assert.ok(!server.logged().includes(token), 'nor logged');
  });

  test('ends at its time', async () => {
    await account('brief');
    const { token } = await tokenOf('brief', { expirationSeconds: 600 });
    clock.shiftMs = 598_000;
    assert.equal((await whoIs(token)).code, 201);
    clock.shiftMs = 601_000;
    assert.equal((await whoIs(token)).code, 401);
    assert.deepEqual(await review(token), { authenticated: false, user: {}, error: 'the token has expired' });
    clock.shiftMs = 0;
  });

  test('ends with its account, also when that is made anew', async () => {
    await account('short-lived');
    const { token } = await tokenOf('short-lived');
    assert.equal((await whoIs(token)).code, 201);
    await server.admin.must('DELETE', `${accounts}/short-lived`);
    assert.equal((await whoIs(token)).code, 401);
    await account('short-lived');
    assert.equal((await whoIs(token)).code, 401);
    assert.equal((await whoIs((await tokenOf('short-lived')).token)).code, 201);
  });

  test('counts for nothing beside a certificate that is good', async () => {
    await account('beside');
    const { token } = await tokenOf('beside');
    const path = `${authentication}/selfsubjectreviews`;
    const nameOf = async (who: ApiTester, given: string) => {
      const reply = await who.request('POST', path, { ...bearing(given), body: {} });
      return JSON.parse(reply.text).status.userInfo.username;
    };
    assert.equal(await nameOf(server.stranger, token), 'stranger');
    assert.equal(await nameOf(server.stranger, 'abc'), 'stranger');
    const foreign = server.holder(await foreignMaster());
    assert.equal(await nameOf(foreign, token), 'system:serviceaccount:default:beside');
  });
});

describe('a token that is bound to another object', () => {
  const bound = (kind: string, name: string, uid?: string) => ({
    boundObjectRef: { apiVersion: 'v1', kind, name, ...(uid === undefined ? {} : { uid }) },
  });

  test('says so, and ends with it', async () => {
    await account('bound');
    for (const [kind, path] of [
      ['Secret', secrets],
      ['Node', nodes],
    ] as const) {
      const { metadata } = await server.admin.must('POST', path, named('binder'));
      const { token } = await tokenOf('bound', bound(kind, 'binder', metadata.uid));
      const own = partsOf(token).payload['kubernetes.io'];
      assert.ok(typeof own === 'object' && own !== null);
      assert.deepEqual(Reflect.get(own, kind.toLowerCase()), { name: 'binder', uid: metadata.uid });
      assert.equal((await whoIs(token)).code, 201);
      await server.admin.must('DELETE', `${path}/binder`);
      assert.equal((await whoIs(token)).code, 401);
    }
  });

  test('is that of a pod which runs as the account, and says where it runs', async () => {
    await account('of-pod');
    const { metadata } = await server.admin.must('POST', nodes, named('host'));
    const spec = { serviceAccountName: 'of-pod', containers: [{ name: 'a', image: 'a' }] };
    const unscheduled = await server.admin.must('POST', pods, { ...named('waiting'), spec });
    const scheduled = { ...named('running'), spec: { ...spec, nodeName: 'host' } };
    const running = await server.admin.must('POST', pods, scheduled);
    const ownOf = ({ token }: Issued) => {
      const {
        serviceaccount: _account,
        namespace: _namespace,
        ...rest
      } = Object(partsOf(token).payload['kubernetes.io']);
      return rest;
    };
    assert.deepEqual(ownOf(await tokenOf('of-pod', bound('Pod', 'waiting'))), {
      pod: { name: 'waiting', uid: unscheduled.metadata.uid },
    });
    const issued = await tokenOf('of-pod', bound('Pod', 'running', running.metadata.uid));
    assert.deepEqual(ownOf(issued), {
      pod: { name: 'running', uid: running.metadata.uid },
      node: { name: 'host', uid: metadata.uid },
    });
    const { extra } = JSON.parse((await whoIs(issued.token)).text).status.userInfo;
    assert.deepEqual(extra['authentication.kubernetes.io/node-name'], ['host']);
    await server.admin.must('DELETE', `${nodes}/host`);
    assert.equal((await whoIs(issued.token)).code, 201, 'it is bound to the pod, not to its node');
    await server.admin.must('DELETE', `${pods}/running`, { gracePeriodSeconds: 0 });
    assert.equal((await whoIs(issued.token)).code, 401);
    await account('of-no-pod');
    const { message } = await server.admin.refused('BadRequest', 'POST', `${accounts}/of-no-pod/token`, {
      body: { spec: bound('Pod', 'waiting') },
    });
    assert.match(
      message ?? '',
      /cannot bind token for serviceaccount "of-no-pod" to pod running with different/,
    );
  });

  test('needs that object, and the one that is meant', async () => {
    await account('bound-to-nothing');
    const path = `${accounts}/bound-to-nothing/token`;
    const refused = (reason: 'NotFound' | 'Conflict' | 'BadRequest', spec: object) =>
      server.admin.refused(reason, 'POST', path, { body: { spec } });
    await refused('NotFound', bound('Secret', 'missing'));
    await refused('NotFound', bound('Pod', 'missing'));
    await refused('NotFound', bound('Node', 'missing'));
    await server.admin.must('POST', secrets, named('other'));
    const { message } = await refused('Conflict', bound('Secret', 'other', 'not-its-uid'));
    assert.match(
      message ?? '',
      /UID in the bound object reference \(not-its-uid\) does not match the UID in record/,
    );
    await refused('BadRequest', bound('ConfigMap', 'other'));
    await refused('BadRequest', { boundObjectRef: { apiVersion: 'apps/v1', kind: 'Pod', name: 'a' } });
  });
});

describe('the token that a pod gets by itself', () => {
  const spec = (pod: Shown, change: object = {}) => ({
    expirationSeconds: 3607,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid },
    ...change,
  });
  const podOf = async (name: string) => {
    await account(name);
    const containers = [{ name: 'a', image: 'a' }];
    return await server.admin.must('POST', pods, {
      ...named(name),
      spec: { serviceAccountName: name, containers },
    });
  };
  const livesFor = ({ token }: Issued) => {
    const { exp, iat } = partsOf(token).payload;
    return Number(exp) - Number(iat);
  };

  test('is good for a year, says when it should have been replaced, and ends with the pod', async () => {
    const pod = await podOf('by-itself');
    const issued = await tokenOf('by-itself', spec(pod));
    const { payload } = partsOf(issued.token);
    assert.equal(livesFor(issued), 365 * 24 * 3600);
    assert.equal(Reflect.get(Object(payload['kubernetes.io']), 'warnafter'), Number(payload['iat']) + 3607);
    const { status } = issued.answer;
    assert.equal(Date.parse(String(status?.['expirationTimestamp'])) / 1000, Number(payload['iat']) + 3607);
    clock.shiftMs = 30 * 24 * 3600_000;
    assert.equal((await whoIs(issued.token)).code, 201);
    clock.shiftMs = 0;
    await server.admin.must('DELETE', `${pods}/by-itself`, { gracePeriodSeconds: 0 });
    assert.equal((await whoIs(issued.token)).code, 401);
  });

  test('lives no longer than asked for, for another audience, another life, or bound to no pod', async () => {
    const pod = await podOf('by-request');
    assert.equal(livesFor(await tokenOf('by-request', spec(pod, { audiences: ['vault'] }))), 3607);
    assert.equal(livesFor(await tokenOf('by-request', spec(pod, { audiences: [issuer, 'vault'] }))), 3607);
    assert.equal(livesFor(await tokenOf('by-request', spec(pod, { expirationSeconds: 3608 }))), 3608);
    assert.equal(livesFor(await tokenOf('by-request', { expirationSeconds: 3607 })), 3607);
    assert.equal(livesFor(await tokenOf('by-request', spec(pod, { audiences: [issuer] }))), 365 * 24 * 3600);
  });
});

describe('a request for a token', () => {
  test('is for an account that exists, by its own name', async () => {
    const path = (name: string) => `${accounts}/${name}/token`;
    await server.admin.refused('NotFound', 'POST', path('missing'), { body: { spec: {} } });
    await account('named');
    const body = { metadata: { name: 'another' }, spec: {} };
    await server.admin.refused('BadRequest', 'POST', path('named'), { body });
    await server.stranger.refused('Forbidden', 'POST', path('named'), { body: { spec: {} } });
  });

  test('asks for a time that is possible', async () => {
    await account('timed');
    for (const expirationSeconds of [599, 2 ** 32 + 1]) {
      const body = { spec: { expirationSeconds } };
      const { details } = await server.admin.refused('Invalid', 'POST', `${accounts}/timed/token`, { body });
      assert.deepEqual(
        details?.causes?.map(({ field }) => field),
        ['spec.expirationSeconds'],
      );
    }
    const { answer } = await tokenOf('timed', { expirationSeconds: 2 ** 32 });
    assert.match(String(answer.status?.['expirationTimestamp']), /^21\d\d-/);
  });
});

describe('a review of a token', () => {
  test('tells whose it is, and for which audiences', async () => {
    const { metadata } = await account('reviewed');
    const { token } = await tokenOf('reviewed', { audiences: ['vault', issuer] });
    const status = await review(token);
    assert.equal(status?.['authenticated'], true);
    assert.deepEqual(status?.['audiences'], [issuer]);
    const { username, uid } = Object(status?.['user']);
    assert.deepEqual([username, uid], ['system:serviceaccount:default:reviewed', metadata.uid]);
    assert.deepEqual((await review(token, ['vault', 'db']))?.['audiences'], ['vault']);
  });

  test('tells when it is nobody’s, and why', async () => {
    await account('unknown');
    const { token } = await tokenOf('unknown');
    assert.deepEqual(await review('abc'), {
      authenticated: false,
      user: {},
      error: 'the token is not valid',
    });
    const others = { authenticated: false, user: {}, error: 'the token is for other audiences' };
    assert.deepEqual(await review(token, ['db']), others);
  });

  test('needs a token', async () => {
    const path = `${authentication}/tokenreviews`;
    await server.admin.refused('BadRequest', 'POST', path, { body: { spec: {} } });
    await server.admin.refused('Invalid', 'POST', path, { body: {} });
  });
});
