import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import type { TokenBench } from './token-bench.ts';
import { builder, partsOf, tampered, tokenBench } from './token-bench.ts';

let bench: TokenBench;
let token: string;
const claims = { namespace: 'ci', account: builder, heldBy: 'held' };

beforeEach(async () => {
  bench = await tokenBench();
  token = await bench.tokens.issueForSecret(claims);
  hold(token);
});

function hold(text: string, change: { goneMs?: number; isInvalid?: boolean } = {}): void {
  const { goneMs, isInvalid = false } = change;
  const digest = hash('sha256', text, 'base64url');
  bench.objects.set('Secret ci/held', { uid: 'any', goneMs, token: { digest, isInvalid } });
}

const check = (text: string) => bench.tokens.check(text, bench.tokens.audiences);
const notValid = { fault: 'the token is not valid' };
const isGood = async () => 'user' in (await check(token));

describe('a token that a Secret holds', () => {
  test('is good without end, for this server alone', async () => {
    const verdict = await check(token);
    assert.ok('user' in verdict);
    assert.equal(verdict.user.name, 'system:serviceaccount:ci:builder');
    assert.deepEqual([verdict.user.extra, verdict.untilMs], [{}, Number.POSITIVE_INFINITY]);
    assert.deepEqual(await bench.tokens.check(token, ['vault']), {
      fault: 'the token is for other audiences',
    });
    bench.clock.setWall(10 * 365 * 86_400_000);
    assert.ok(await isGood());
  });

  test('ends at once with its Secret, known as it may be', async () => {
    assert.ok(await isGood());
    bench.objects.delete('Secret ci/held');
    assert.ok(!(await isGood()));
    hold(token, { goneMs: bench.clock.now() });
    assert.ok(!(await isGood()), 'it is being deleted');
    hold('another');
    assert.ok(!(await isGood()), 'the Secret must hold that very token');
    bench.objects.set('Secret ci/held', { uid: 'any', goneMs: undefined });
    assert.ok(!(await isGood()), 'a Secret of another type');
    hold(token, { isInvalid: true });
    assert.deepEqual(await check(token), {
      fault: 'the token has been marked invalid by a label of its Secret',
    });
    hold(token);
    assert.ok(await isGood());
  });

  test('ends at once with its account, without the time that other tokens have', async () => {
    bench.objects.set('ServiceAccount ci/builder', { uid: builder.uid, goneMs: bench.clock.now() });
    assert.deepEqual(await check(token), { fault: 'the service account of the token is gone' });
    bench.objects.set('ServiceAccount ci/builder', { uid: 'another', goneMs: undefined });
    assert.deepEqual(await check(token), { fault: 'the service account of the token is gone' });
  });

  test('is nobody’s when it says anything else than what was signed, or too little', async () => {
    const { payload } = partsOf(token);
    const forged = tampered(token, { payload: { sub: 'system:serviceaccount:ci:root' } });
    hold(forged);
    assert.deepEqual(await check(forged), notValid);
    const changes: Record<string, unknown>[] = [
      { iss: 'someone' },
      { sub: 'system:serviceaccount:ci:root' },
      { exp: Math.floor(bench.clock.now() / 1000) + 60 },
      { iss: 'https://kubernetes.default.svc.cluster.local' },
      ...Object.keys(payload).map((name) => ({ [name]: undefined })),
    ];
    for (const change of changes) {
      const other = await new SignJWT({ ...payload, ...change })
        .setProtectedHeader({ alg: 'ES256', kid: 'key' })
        .sign(bench.key.privateKey);
      hold(other);
      assert.deepEqual(await check(other), notValid, JSON.stringify(change));
    }
  });

  test('is not taken for one that was requested, nor the other way round', async () => {
    const requested = await bench.tokens.issue(bench.claims());
    const mixed = { ...partsOf(requested).payload, iss: 'kubernetes/serviceaccount' };
    const other = await new SignJWT(mixed)
      .setProtectedHeader({ alg: 'ES256', kid: 'key' })
      .sign(bench.key.privateKey);
    assert.deepEqual(await check(other), notValid);
  });
});
