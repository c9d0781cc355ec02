import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { bearing, bootstrapSecret, bootstrapSecrets } from '../support/bootstrap.ts';
import { nodes, shiftedClock, startServer } from '../support/index.ts';

const clock = shiftedClock();
const server = await startServer({ clock });
after(() => server[Symbol.asyncDispose]());

const secret = '0123456789abcdef';
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** Who the server takes the holder of a token for; undefined for nobody. */
async function holderOf(token: string): Promise<{ username: string; groups: string[] } | undefined> {
  const reply = await server.nobody.request('POST', whoami, { ...bearing(token), body: {} });
  if (reply.code === 401) return undefined;
  assert.equal(reply.code, 201, reply.text);
  return JSON.parse(reply.text).status.userInfo;
}

describe('a bootstrap token', () => {
  test('makes its holder a user of its own, in the groups of those who join', async () => {
    const groups = 'system:bootstrappers:b, system:bootstrappers:a:1';
    await server.admin.must(
      'POST',
      bootstrapSecrets,
      bootstrapSecret('aaaaaa', secret, { 'auth-extra-groups': groups }),
    );
    const user = await holderOf(`aaaaaa.${secret}`);
    assert.equal(user?.username, 'system:bootstrap:aaaaaa');
    assert.deepEqual(user?.groups, [
      'system:bootstrappers',
      'system:bootstrappers:a:1',
      'system:bootstrappers:b',
      'system:authenticated',
    ]);
    await server.nobody.refused('Forbidden', 'GET', nodes, bearing(`aaaaaa.${secret}`));
  });

  test('can be told to others by a review', async () => {
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('review', secret));
    const review = await server.admin.must('POST', reviews, { spec: { token: `review.${secret}` } });
    assert.equal(review.status?.['authenticated'], true);
  });

  test('is good from the write of its Secret on, and no longer once that is deleted or changed', async () => {
    const path = `${bootstrapSecrets}/bootstrap-token-bbbbbb`;
    assert.equal(await holderOf(`bbbbbb.${secret}`), undefined);
    const made = await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('bbbbbb', secret));
    assert.ok(await holderOf(`bbbbbb.${secret}`));
    await server.admin.must('PUT', path, { ...made, stringData: { 'token-secret': 'fedcba9876543210' } });
    assert.equal(await holderOf(`bbbbbb.${secret}`), undefined);
    assert.ok(await holderOf('bbbbbb.fedcba9876543210'));
    await server.admin.must('DELETE', path);
    assert.equal(await holderOf('bbbbbb.fedcba9876543210'), undefined);
  });

  test('ends when it is said to, and its Secret says so in no answer', async () => {
    const expiration = new Date(clock.now() + 3600_000).toISOString();
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('cccccc', secret, { expiration }));
    assert.ok(await holderOf(`cccccc.${secret}`));
    clock.shiftMs = 3600_001;
    const before = await holderOf('cccccc.ffffffffffffffff');
    const reply = await server.nobody.request('GET', nodes, bearing(`cccccc.${secret}`));
    clock.shiftMs = 0;
    assert.equal(before, undefined);
    assert.equal(reply.code, 401);
    assert.doesNotMatch(reply.text, /expired|cccccc/);
    assert.match(
      server.logged(),
      /"user":"system:bootstrap:cccccc".*a bootstrap token is refused: it has expired/,
    );
  });

  const malformed: Record<string, Record<string, string>> = {
    'not for authentication': { 'usage-bootstrap-authentication': 'yes' },
    'of another id than its name': { 'token-id': 'zzzzzz' },
    'with a group beyond those of bootstrappers': {
      'auth-extra-groups': 'system:bootstrappers:a,system:masters',
    },
    'with an end that is no time': { expiration: 'tomorrow' },
    'with an end on a day without a time': { expiration: '2999-01-01' },
  };
  for (const [what, change] of Object.entries(malformed)) {
    test(`in a Secret that is ${what} is nobody's`, async () => {
      const id = 'dddddd';
      const path = `${bootstrapSecrets}/bootstrap-token-${id}`;
      await server.admin.must('POST', bootstrapSecrets, bootstrapSecret(id, secret, change));
      assert.equal(await holderOf(`${id}.${secret}`), undefined);
      await server.admin.must('DELETE', path);
    });
  }

  test('in a Secret of another type or namespace is nobody’s', async () => {
    const good = bootstrapSecret('eeeeee', secret);
    await server.admin.must('POST', bootstrapSecrets, { ...good, type: 'Opaque' });
    assert.equal(await holderOf(`eeeeee.${secret}`), undefined);
    const elsewhere = { ...bootstrapSecret('ffffff', secret), metadata: { name: 'bootstrap-token-ffffff' } };
    await server.admin.must('POST', '/api/v1/namespaces/default/secrets', elsewhere);
    assert.equal(await holderOf(`ffffff.${secret}`), undefined);
  });

  test('that is wrong by a letter, cut off or of another form is nobody’s', async () => {
    await server.admin.must('POST', bootstrapSecrets, bootstrapSecret('gggggg', secret));
    assert.ok(await holderOf(`gggggg.${secret}`));
    for (const token of [
      `gggggg.${secret.slice(0, -1)}0`,
      `gggggg.${secret.slice(0, -1)}`,
      `gggggg.${secret}.x`,
      `GGGGGG.${secret}`,
      `gggggg.`,
      `../../x.${secret}`,
      `.${secret}`,
    ]) {
      assert.equal(await holderOf(token), undefined, token);
    }
  });

  test('is in no line of the log', () => {
    assert.doesNotMatch(server.logged(), new RegExp(secret));
  });
});

test('a server that takes no bootstrap tokens knows none', async () => {
  await using closed = await startServer({ authentication: { bootstrapTokens: false } });
  await closed.admin.must('POST', bootstrapSecrets, bootstrapSecret('hhhhhh', secret));
  await closed.nobody.refused('Unauthorized', 'GET', nodes, bearing(`hhhhhh.${secret}`));
});
