import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { serviceAccountTokens } from '../../../../src/apiserver/authn/index.ts';
import type { ServiceAccountKey } from '../../../../src/apiserver/pki/index.ts';
import type { TokenBench } from './token-bench.ts';
import { builder, partsOf, tampered, tokenBench } from './token-bench.ts';

let bench: TokenBench;
beforeEach(async () => {
  bench = await tokenBench();
});

const notValid = { fault: 'the token is not valid' };
const check = (token: string, audiences = bench.tokens.audiences) => bench.tokens.check(token, audiences);

describe('a token', () => {
  test('says what those of the reference say', async () => {
    const pod = { name: 'job-1', uid: 'uid-of-pod' };
    const node = { name: 'a', uid: 'uid-of-node' };
    const token = await bench.tokens.issue(bench.claims({ pod, node, audiences: ['vault', 'db'] }));
    const { header, payload } = partsOf(token);
    const iat = bench.clock.now() / 1000;
    assert.deepEqual(header, { alg: 'ES256', kid: 'key' });
    assert.deepEqual(payload, {
      iss: 'https://kubernetes.default.svc.cluster.local',
      sub: 'system:serviceaccount:ci:builder',
      aud: ['vault', 'db'],
      iat,
      nbf: iat,
      exp: iat + 3600,
      jti: 'id-of-token',
      'kubernetes.io': { namespace: 'ci', serviceaccount: builder, pod, node },
    });
  });

  test('stands for its service account and the groups of it', async () => {
    const verdict = await check(await bench.tokens.issue(bench.claims()));
    assert.deepEqual(verdict, {
      user: {
        name: 'system:serviceaccount:ci:builder',
        uid: builder.uid,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id-of-token'] },
      },
      audiences: bench.tokens.audiences,
      untilMs: bench.clock.now() + 3600_000,
    });
  });

  test('that is bound tells of its pod and node', async () => {
    const pod = { name: 'job-1', uid: 'uid-of-pod' };
    bench.objects.set('Pod ci/job-1', { uid: pod.uid, goneMs: undefined });
    const verdict = await check(await bench.tokens.issue(bench.claims({ pod, node: { name: 'a' } })));
    assert.ok('user' in verdict);
    assert.deepEqual(verdict.user.extra, {
      'authentication.kubernetes.io/credential-id': ['JTI=id-of-token'],
      'authentication.kubernetes.io/pod-name': ['job-1'],
      'authentication.kubernetes.io/pod-uid': ['uid-of-pod'],
      'authentication.kubernetes.io/node-name': ['a'],
    });
  });

  test('is good for the audiences that it names, and only for them', async () => {
    const token = await bench.tokens.issue(bench.claims({ audiences: ['vault', 'db'] }));
    const audiencesFor = async (...asked: string[]) => {
      const verdict = await check(token, asked);
      return 'user' in verdict ? verdict.audiences : verdict.fault;
    };
    assert.deepEqual(await audiencesFor('db'), ['db']);
    assert.deepEqual(await audiencesFor('x', 'db', 'vault'), ['db', 'vault']);
    assert.equal(await audiencesFor('x'), 'the token is for other audiences');
    assert.deepEqual(await check(token), { fault: 'the token is for other audiences' });
  });

  test('ends at its time, to the second, whether it is known or new', async () => {
    const claims = bench.claims();
    const known = await bench.tokens.issue(claims);
    const unknown = await bench.tokens.issue({ ...claims, id: 'another' });
    bench.clock.setWall(3600_000 - 1);
    assert.ok('user' in (await check(known)));
    bench.clock.setWall(1);
    const expired = { fault: 'the token has expired' };
    assert.deepEqual(await check(known), expired);
    assert.deepEqual(await check(unknown), expired);
    bench.clock.setWall(86_400_000);
    assert.deepEqual(await check(unknown), expired);
  });

  test('begins at its time, but for clocks that differ a little', async () => {
    const issuedAt = Math.floor(bench.clock.now() / 1000);
    const from = (seconds: number) => bench.tokens.issue(bench.claims({ issuedAt: issuedAt + seconds }));
    assert.ok('user' in (await check(await from(5))));
    assert.deepEqual(await check(await from(60)), notValid);
  });
});

describe('a token is nobody', () => {
  test('when its account is gone, also when another one has its name', async () => {
    const token = await bench.tokens.issue(bench.claims());
    const gone = { fault: 'the service account of the token is gone' };
    assert.ok('user' in (await check(token)));
    bench.objects.set('ServiceAccount ci/builder', { uid: 'another', goneMs: undefined });
    assert.deepEqual(await check(token), gone);
    bench.objects.clear();
    assert.deepEqual(await check(token), gone);
    bench.objects.set('ServiceAccount ci/builder', { uid: builder.uid, goneMs: undefined });
    assert.ok('user' in (await check(token)));
  });

  test('when its account cannot be read, which is said; not for good', async () => {
    const token = await bench.tokens.issue(bench.claims());
    bench.objects.set('ServiceAccount ci/builder', 'unreadable');
    const fault = 'the service account of the token cannot be read in the store';
    assert.deepEqual(await check(token), { fault });
    bench.objects.set('ServiceAccount ci/builder', { uid: builder.uid, goneMs: undefined });
    assert.ok('user' in (await check(token)));
  });

  for (const [kind, key] of [
    ['Pod', 'Pod ci/x'],
    ['Secret', 'Secret ci/x'],
    ['Node', 'Node /x'],
  ] as const) {
    const what = kind.toLowerCase();
    const gone = { fault: `the ${what} that the token is bound to is gone` };
    const uid = 'uid-of-x';

    test(`when its ${what} is gone or another one`, async () => {
      const token = await bench.tokens.issue(bench.claims({ [what]: { name: 'x', uid } }));
      assert.deepEqual(await check(token), gone);
      bench.objects.set(key, { uid, goneMs: undefined });
      assert.ok('user' in (await check(token)));
      bench.objects.set(key, { uid: 'another', goneMs: undefined });
      assert.deepEqual(await check(token), gone);
    });

    test(`when its ${what} is long to be gone, though something still holds it`, async () => {
      const token = await bench.tokens.issue(bench.claims({ [what]: { name: 'x', uid } }));
      bench.objects.set(key, { uid, goneMs: bench.clock.now() + 30_000 });
      bench.clock.setWall(90_000);
      assert.ok('user' in (await check(token)));
      bench.clock.setWall(1);
      assert.deepEqual(await check(token), gone);
    });
  }

  test('when somebody else signed it', async () => {
    const other = await tokenBench();
    assert.deepEqual(await check(await other.tokens.issue(bench.claims())), notValid);
  });

  test('when something in it was changed', async () => {
    const token = await bench.tokens.issue(bench.claims());
    assert.deepEqual(
      await check(tampered(token, { payload: { sub: 'system:serviceaccount:ci:admin' } })),
      notValid,
    );
    assert.deepEqual(await check(tampered(token, { header: { kid: 'another' } })), notValid);
    assert.deepEqual(await check(tampered(token, { header: { alg: 'none' } })), notValid);
    assert.deepEqual(await check(`${token.split('.').slice(0, 2).join('.')}.`), notValid);
  });

  test('when it is signed with the public half of the key, as if that were a secret', async () => {
    const token = await bench.tokens.issue(bench.claims());
    const [head, body] = tampered(token, { header: { alg: 'HS256' } }).split('.');
    const secret = bench.key.publicKey.export({ format: 'pem', type: 'spki' });
    const mac = createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url');
    assert.deepEqual(await check(`${head}.${body}.${mac}`), notValid);
  });

  test('when it comes from another issuer, or says less than tokens of service accounts do', async () => {
    const token = await bench.tokens.issue(bench.claims());
    const { payload } = partsOf(token);
    const sign = async (change: object) =>
      await new SignJWT({ ...payload, ...change })
        .setProtectedHeader({ alg: 'ES256' })
        .sign(bench.key.privateKey);
    assert.ok('user' in (await check(await sign({}))));
    const own = { namespace: 'ci', serviceaccount: builder };
    for (const change of [
      { iss: 'https://elsewhere' },
      { iss: undefined },
      { sub: 'system:serviceaccount:ci:admin' },
      { sub: 'system:admin' },
      { aud: undefined },
      { aud: [1] },
      { exp: undefined },
      { exp: '1' },
      { jti: undefined },
      { 'kubernetes.io': undefined },
      { 'kubernetes.io': { serviceaccount: builder } },
      { 'kubernetes.io': { namespace: 'ci', serviceaccount: { name: 'builder' } } },
      { 'kubernetes.io': { ...own, pod: {} } },
      { 'kubernetes.io': { ...own, secret: 's' } },
      { 'kubernetes.io': { ...own, node: {} } },
      { 'kubernetes.io': { ...own, node: { name: 'a' } } },
    ]) {
      assert.deepEqual(await check(await sign(change)), notValid, JSON.stringify(change));
    }
  });

  test('whatever else it is', async () => {
    const token = await bench.tokens.issue(bench.claims());
    const mangled = fc
      .record({ at: fc.nat(token.length - 1), text: fc.string({ maxLength: 4 }), cut: fc.nat(3) })
      .map(({ at, text, cut }) => token.slice(0, at) + text + token.slice(at + cut))
      .filter((text) => text !== token);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(mangled, fc.string(), fc.constantFrom('..', '.', '', 'e30.e30.')),
        async (text) => {
          const verdict = await check(text);
          // the last character of base64 has bits that say nothing
          if ('user' in verdict) assert.equal(text.slice(0, -1), token.slice(0, -1));
          else assert.deepEqual(verdict, notValid);
        },
      ),
    );
    assert.deepEqual(await check('a'.repeat(20_000)), notValid);
  });
});

test('a key of another sort is as good', async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { id: 'rsa', algorithm: 'RS256', ...pair, previous: [] };
  const objects = { find: () => ({ uid: builder.uid, goneMs: undefined }) };
  const tokens = serviceAccountTokens({ key, clock: bench.clock, objects });
  const token = await tokens.issue(bench.claims());
  assert.ok('user' in (await tokens.check(token, tokens.audiences)));
  assert.deepEqual(await check(token), notValid);
});

test('a key of before is still good to check with, and a forgotten one is not', async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const next = { id: 'next', algorithm: 'RS256', ...pair };
  const objects = { find: () => ({ uid: builder.uid, goneMs: undefined }) };
  const made = (previous: ServiceAccountKey['previous']) =>
    serviceAccountTokens({ key: { ...next, previous }, clock: bench.clock, objects });
  const token = await bench.tokens.issue(bench.claims());
  const { audiences } = bench.tokens;
  assert.ok('user' in (await made([bench.key]).check(token, audiences)));
  assert.deepEqual(await made([]).check(token, audiences), notValid);
  // a key is good for what it is for: nobody may choose another way to sign
  const forged = { ...bench.key, algorithm: 'ES384' };
  assert.deepEqual(await made([forged]).check(token, audiences), notValid);
});
