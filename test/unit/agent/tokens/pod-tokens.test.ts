import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { ApiPodTokens } from '../../../../src/agent/tokens/index.ts';
import type { ApiObject, BodyType, Pod, TokenRequest } from '../../../../src/api/index.ts';
import { StatusError } from '../../../../src/api/index.ts';
import { createLogger } from '../../../../src/base/index.ts';
import type { Owner } from '../../../../src/client/index.ts';
import { ConnectionError } from '../../../../src/client/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const pod: Pod = {
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-1' },
  spec: { serviceAccountName: 'seller', nodeName: 'n', containers: [] },
};
const question = { audience: '', expirationSeconds: 600 };
const minute = 60_000;
const hour = 60 * minute;

type Answer = (request: TokenRequest) => Promise<TokenRequest> | TokenRequest;

interface Asked {
  readonly request: TokenRequest;
  readonly of: Owner;
}

/** Tokens over an API that answers as the test says; without a word from the test with a token of the life asked for. */
function openTokens() {
  const clock = createManualClock();
  const logged = new PassThrough();
  const asked: Asked[] = [];
  const notices: string[] = [];
  let wallOfApiMs = 0;
  const give: Answer = ({ spec }) => ({
    spec,
    status: {
      token: `secret-token-${asked.length}`,
      expirationTimestamp: new Date(
        clock.now() + wallOfApiMs + Number(spec.expirationSeconds) * 1000,
      ).toISOString(),
    },
  });
  let answer: Answer = give;
  const api = {
    async post<T extends ApiObject>(
      type: BodyType<T>,
      body: T,
      of: Owner,
      { signal }: { signal?: AbortSignal } = {},
    ) {
      assert.ok(isTokenRequest(type, body));
      asked.push({ request: body, of });
      const left = new Promise<never>((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason)),
      );
      const given: ApiObject = await Promise.race([answer(body), left]);
      assert.ok(isAnswer<T>(given));
      return given;
    },
  };
  const tokens = new ApiPodTokens({
    api,
    onNotice: (uid, message) => notices.push(`${uid}: ${message}`),
    random: () => 0,
    clock,
    log: createLogger({ format: 'json', level: 'debug', output: logged }),
  });
  return {
    ...{ tokens, clock, asked, notices, give },
    get: (of = pod, what = question) => tokens.get(of, what, new AbortController().signal),
    answerWith: (next: Answer) => {
      answer = next;
    },
    setApiClock: (aheadMs: number) => {
      wallOfApiMs = aheadMs;
    },
    async log() {
      logged.end();
      return await text(logged);
    },
  };
}

function isTokenRequest(type: { kind: string }, _body: ApiObject): _body is TokenRequest {
  return type.kind === 'TokenRequest';
}

function isAnswer<T extends ApiObject>(_given: ApiObject): _given is T {
  return true;
}

const refusal = new StatusError('Forbidden', 'serviceaccounts "seller" is forbidden: no');
const refuse: Answer = () => Promise.reject(refusal);

describe('the token of a pod', () => {
  test('is asked for once, bound to the pod, for all who ask at the same time', async () => {
    const { get, asked } = openTokens();
    const tokens = await Promise.all([get(), get(), get()]);
    assert.deepEqual(
      tokens.map(({ token }) => token),
      ['secret-token-1', 'secret-token-1', 'secret-token-1'],
    );
    await get();
    assert.equal(asked.length, 1);
    const [{ request, of } = assert.fail()] = asked;
    assert.deepEqual(request.spec, {
      audiences: [],
      expirationSeconds: 600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-1' },
    });
    assert.deepEqual(
      [of.kind.resource, of.namespace, of.name, of.subresource],
      ['serviceaccounts', 'shop', 'seller', 'token'],
    );
  });

  test('is another one for another audience, another life and another pod', async () => {
    const { get, asked } = openTokens();
    await get();
    await get(pod, { ...question, audience: 'vault' });
    await get(pod, { ...question, expirationSeconds: 7200 });
    await get({ ...pod, metadata: { ...pod.metadata, uid: 'uid-2' } });
    assert.deepEqual(
      asked.map(({ request: { spec } }) => [
        spec.audiences,
        spec.expirationSeconds,
        spec.boundObjectRef?.uid,
      ]),
      [
        [[], 600, 'uid-1'],
        [['vault'], 600, 'uid-1'],
        [[], 7200, 'uid-1'],
        [[], 600, 'uid-2'],
      ],
    );
  });

  test('of ten minutes is renewed after eight, again and again', async () => {
    const { get, asked, clock } = openTokens();
    for (let round = 1; round <= 5; round += 1) {
      const { token, renewMs, expiresMs } = await get();
      assert.equal(token, `secret-token-${round}`);
      assert.deepEqual([renewMs - clock.now(), expiresMs - clock.now()], [8 * minute, 10 * minute]);
      await clock.advance(8 * minute - 1);
      assert.equal((await get()).token, token);
      assert.equal(asked.length, round);
      await clock.advance(1);
    }
  });

  test('is renewed after a day, however long it lives', async () => {
    const { get, clock } = openTokens();
    const { renewMs } = await get(pod, { audience: '', expirationSeconds: 30 * 24 * 3600 });
    assert.equal(renewMs - clock.now(), 24 * hour);
  });

  test('is renewed in time by whatever clock: set back, set forward, a machine that slept, an API that lives elsewhere', async () => {
    const { get, asked, clock, setApiClock } = openTokens();
    setApiClock(-30 * minute);
    assert.equal((await get()).renewMs - clock.now(), 8 * minute);
    clock.setWall(-5 * hour);
    assert.equal((await get()).renewMs - clock.now(), 8 * minute);
    await clock.advance(8 * minute);
    await get();
    assert.equal(asked.length, 2);
    clock.suspend(9 * minute);
    await get();
    assert.equal(asked.length, 3);
    clock.setWall(hour);
    await get();
    assert.equal(asked.length, 4);
  });

  test('goes on until its end when a new one is refused; that is said once, and tried again with waits in between', async () => {
    const { get, asked, clock, notices, answerWith, give, log } = openTokens();
    await get();
    await clock.advance(8 * minute);
    answerWith(refuse);
    const kept = await get();
    assert.equal(kept.token, 'secret-token-1');
    assert.equal(asked.length, 2);
    assert.equal(kept.renewMs - clock.now(), 1000);
    await get();
    assert.equal(asked.length, 2);
    for (let second = 0; second < 119; second += 1) {
      await clock.advance(1000);
      assert.equal((await get()).token, 'secret-token-1');
    }
    assert.ok(asked.length > 5 && asked.length < 12, `asked ${asked.length} times`);
    const until = new Date(kept.expiresMs).toISOString();
    const said = `its token could not be renewed and goes on until ${until}: failed to fetch token: serviceaccounts "seller" is forbidden: no`;
    assert.deepEqual(notices, [`uid-1: ${said}`]);
    await clock.advance(1000);
    await assert.rejects(get(), {
      message:
        'the token has expired, and a new one was not given: failed to fetch token: serviceaccounts "seller" is forbidden: no',
    });
    answerWith(give);
    assert.match((await get()).token, /secret-token/);
    const lines = await log();
    assert.equal(lines.split(JSON.stringify(said)).length, 2);
    assert.match(lines, /its token is renewed again/);
    assert.doesNotMatch(lines, /secret-token/);
  });

  test('is refused with the words of the API', async () => {
    const { get, answerWith, asked } = openTokens();
    answerWith(refuse);
    await assert.rejects(get(), {
      message: 'failed to fetch token: serviceaccounts "seller" is forbidden: no',
    });
    assert.equal(asked.length, 1);
  });

  test('is asked for again when the request is lost, and given up after a while', async () => {
    const { get, answerWith, asked, give, clock } = openTokens();
    answerWith((request) =>
      asked.length < 3 ? Promise.reject(new ConnectionError('broken', 'lost')) : give(request),
    );
    const given = get();
    await clock.advance(2000);
    assert.equal((await given).token, 'secret-token-3');
    answerWith(() => new Promise(() => undefined));
    const silent = assert.rejects(get(pod, { ...question, audience: 'a' }), {
      message: 'failed to fetch token: the API did not answer within 15 s',
    });
    await clock.advance(15_000);
    await silent;
  });

  test('is not taken from an answer without one, or with one that ends at once', async () => {
    const { get, answerWith, give } = openTokens();
    for (const change of [
      { status: { token: '', expirationTimestamp: '2030-01-01T00:00:00Z' } },
      { status: { token: 'secret-token', expirationTimestamp: 'soon' } },
      { status: { token: 'x'.repeat(70_000), expirationTimestamp: '2030-01-01T00:00:00Z' } },
      { spec: { audiences: [], expirationSeconds: 0 } },
      { spec: { audiences: [], expirationSeconds: -5 } },
    ]) {
      answerWith(async (request) => ({ ...(await give(request)), ...change }));
      await assert.rejects(get(), /failed to fetch token: the API answered with what is no token/);
    }
  });

  test('keeps its life from the answer, which may be shorter than the one asked for', async () => {
    const { get, answerWith, give, clock } = openTokens();
    answerWith(async (request) => give({ spec: { ...request.spec, expirationSeconds: 600 } }));
    const { renewMs } = await get(pod, { audience: '', expirationSeconds: 3607 });
    assert.equal(renewMs - clock.now(), 8 * minute);
  });

  test('comes for the others when one of them no longer waits', async () => {
    const { tokens, get, answerWith, give, asked } = openTokens();
    const answered = Promise.withResolvers<void>();
    answerWith(async (request) => {
      await answered.promise;
      return await give(request);
    });
    const leaving = new AbortController();
    const left = assert.rejects(tokens.get(pod, question, leaving.signal), /has gone/);
    const waiting = get();
    leaving.abort(new Error('has gone'));
    await left;
    answered.resolve();
    assert.equal((await waiting).token, 'secret-token-1');
    await assert.rejects(tokens.get(pod, question, leaving.signal), /has gone/);
    assert.equal(asked.length, 1);
  });

  test('is forgotten when the pod is released, also in the middle of a request', async () => {
    const { tokens, get, answerWith, give, asked } = openTokens();
    await get();
    tokens.release('uid-1');
    tokens.release('uid-1');
    await get();
    assert.equal(asked.length, 2);
    answerWith(() => new Promise(() => undefined));
    const ended = assert.rejects(get(pod, { ...question, audience: 'a' }), {
      message: 'failed to fetch token: the pod has ended',
    });
    tokens.release('uid-1');
    await ended;
    answerWith(give);
    await get(pod, { ...question, audience: 'a' });
    assert.equal(asked.length, 4);
  });

  test('is not asked for by a pod without a uid, nor for more audiences than any pod has', async () => {
    const { get, asked } = openTokens();
    await assert.rejects(get({ ...pod, metadata: { name: 'web' } }), /the pod has no uid yet/);
    for (let index = 0; index < 256; index += 1) await get(pod, { ...question, audience: `a${index}` });
    await assert.rejects(get(pod, { ...question, audience: 'one more' }), /more than 256 different ones/);
    assert.equal(asked.length, 256);
  });
});
