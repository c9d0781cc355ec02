import assert from 'node:assert/strict';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openAuthorizationWebhook } from '../../../../../src/apiserver/assembly/authorization-webhook.ts';
import type { Decision } from '../../../../../src/apiserver/authz/index.ts';
import type { WebhookOptions } from '../../../../../src/apiserver/authz/webhook/index.ts';
import { MetricsRegistry } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { recordedLog } from '../../../base/recorded-log.ts';
import { nodes, startServer } from '../../support/index.ts';
import type { Say } from './answering-server.ts';
import { answeringServer } from './answering-server.ts';

const jane = { name: 'jane', uid: '7', groups: ['ops'], extra: { scope: ['a', 'b'] } };
const list = { verb: 'list', group: 'apps', version: 'v1', resource: 'deployments', subresource: '' };
const place = { namespace: 'team', name: '' };

async function world(say: Say, options: Partial<WebhookOptions> = {}) {
  const other = await answeringServer(say);
  const clock = createManualClock();
  const { log, text } = recordedLog();
  const metrics = new MetricsRegistry();
  const webhook = await openAuthorizationWebhook(
    { kubeconfig: other.kubeconfig, ...options },
    { groupSuffix: 'k8s.io', clock, log, metrics },
  );
  return {
    ...other,
    clock,
    logged: text,
    /** Whether jane may list; `name` makes it another question. */
    decide: async (name = ''): Promise<Decision> =>
      await webhook.authorizer.authorize(jane, { ...list, ...place, name }),
    /** The same of another user. */
    decideFor: async (user: string, name = ''): Promise<Decision> =>
      await webhook.authorizer.authorize({ ...jane, name: user }, { ...list, ...place, name }),
    authorizer: webhook.authorizer,
    reload: webhook.reload,
    metrics: () => metrics.metrics(),
    async [Symbol.asyncDispose]() {
      await webhook[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

const says =
  (status: object): Say =>
  () => ({ status });

describe('an authorizer that asks another server', () => {
  test('tells it who wants to do what, in the fields of the specification alone, at its address and with its credentials', async () => {
    await using at = await world(says({ allowed: true }));
    const labels = [{ key: 'app', operator: 'In' as const, values: ['x'] }];
    const fields = [{ field: 'metadata.name', operator: '!=' as const, value: 'y' }];
    const more = { nodeName: 'n', selectors: { fields, labels } }; // the first is for the node authorizer alone
    await at.authorizer.authorize(jane, { ...list, ...place, ...more });
    await at.authorizer.authorize(jane, { verb: 'get', path: '/metrics' });
    const [first, second] = at.asked;
    assert.deepEqual([first?.path, first?.authorization], ['/authorize', 'Bearer webhook-token']);
    assert.deepEqual(first?.review, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'jane',
        uid: '7',
        groups: ['ops'],
        extra: { scope: ['a', 'b'] },
        resourceAttributes: {
          ...list,
          ...place,
          fieldSelector: { requirements: [{ key: 'metadata.name', operator: 'NotIn', values: ['y'] }] },
          labelSelector: { requirements: [{ key: 'app', operator: 'In', values: ['x'] }] },
        },
      },
    });
    assert.deepEqual(second?.review.spec['nonResourceAttributes'], { verb: 'get', path: '/metrics' });
  });

  const answers: [object, Decision['verdict']][] = [
    [{ allowed: true, reason: 'on call' }, 'allow'],
    [{ allowed: false, denied: true, reason: 'on leave' }, 'deny'],
    [{ allowed: false, reason: 'unknown' }, 'noOpinion'],
    [{ allowed: false, evaluationError: 'no directory' }, 'noOpinion'],
  ];
  for (const [status, verdict] of answers) {
    test(`takes ${JSON.stringify(status)} for ${verdict}`, async () => {
      await using at = await world(says(status));
      const { reason = '', evaluationError } = { evaluationError: undefined, reason: '', ...status };
      const errors = evaluationError === undefined ? [] : [evaluationError];
      assert.deepEqual(await at.decide(), { verdict, reason, errors });
    });
  }

  test('asks again when its yes is five minutes old, its no thirty seconds', async () => {
    await using at = await world(({ spec }) => ({
      status: { allowed: JSON.stringify(spec).includes('"good"') },
    }));
    const ask = async () => {
      await at.decide('good');
      await at.decide('bad');
      return at.asked.length;
    };
    assert.equal(await ask(), 2);
    assert.equal(await ask(), 2);
    await at.clock.advance(30_000);
    assert.equal(await ask(), 3);
    await at.clock.advance(270_000);
    assert.equal(await ask(), 5);
  });

  test('with a lifetime of zero asks each time', async () => {
    await using at = await world(says({ allowed: true }), { authorizedTtlMs: 0 });
    await at.decide();
    await at.decide();
    assert.equal(at.asked.length, 2);
  });

  test('asks once for many who ask the same at once', async () => {
    await using at = await world(says({ allowed: true }));
    const decisions = await Promise.all(Array.from({ length: 50 }, () => at.decide()));
    assert.ok(decisions.every(({ verdict }) => verdict === 'allow'));
    assert.equal(at.asked.length, 1);
  });

  const failures: Record<string, Say> = {
    'answers 500': () => ({ code: 500, text: 'secret inside' }),
    'answers garbage': () => ({ text: 'secret inside' }),
    'answers another object': () => ({ text: '{"kind":"Status","status":"secret inside"}' }),
    'answers without a status': () => ({ text: '{"kind":"SubjectAccessReview"}' }),
    'both allows and denies': says({ allowed: true, denied: true }),
    'answers with words for yes': says({ allowed: 'yes' }),
    'answers without an end': () => ({ text: ' '.repeat(1024 * 1024) }),
    'says nothing': () => 'hang',
  };
  for (const [what, say] of Object.entries(failures)) {
    test(`that ${what} leads to no opinion and an error, or to no where that is wanted`, async () => {
      await using at = await world(say, { timeoutMs: 300 });
      const { verdict, errors } = await at.decide();
      assert.deepEqual([verdict, errors], ['noOpinion', ['the authorization webhook gives no answer']]);
      assert.match(at.logged(), /the authorization webhook gives no answer: /);
      assert.doesNotMatch(at.logged(), /secret inside|webhook-token/);
      await using strict = await world(say, { timeoutMs: 300, failurePolicy: 'Deny' });
      assert.equal((await strict.decide()).verdict, 'deny');
    });
  }

  test('takes a server that is away for one that fails, and asks it as soon as it answers', async () => {
    await using at = await world(() => ({ code: 503, text: '' }));
    assert.equal((await at.decide()).verdict, 'noOpinion');
    at.speech.say = says({ allowed: true });
    assert.equal((await at.decide()).verdict, 'allow');
    at.stop();
    assert.equal((await at.decide('another')).verdict, 'noOpinion');
    assert.equal((await at.decide()).verdict, 'allow', 'what is known counts on');
  });
});

describe('questions that wait for an authorizer that hangs', () => {
  const timeoutMs = 30_000;
  const hangsForJane: Say = ({ spec }) => (spec['user'] === 'jane' ? 'hang' : { status: { allowed: true } });
  const janes = /too many questions about user \\"jane\\" wait for it already/;
  const paddings = { 'are short': '', 'are too long to be kept': 'n'.repeat(10_001) };

  for (const [what, padding] of Object.entries(paddings)) {
    test(`about one user where they ${what} are 64 and a line of 256; more fail at once, others get through`, async () => {
      await using at = await world(hangsForJane, { timeoutMs });
      for (let index = 0; index < 64 + 256; index += 1) void at.decide(`${padding}${index}`);
      const errors = ['the authorization webhook gives no answer'];
      for (const name of ['over', 'more']) {
        assert.deepEqual(await at.decide(padding + name), { verdict: 'noOpinion', reason: '', errors });
      }
      assert.match(at.logged(), janes);
      assert.equal((await at.decideFor('joe', padding)).verdict, 'allow');
      assert.equal(at.logged().trim().split('\n').length, 1, 'told once');
    });

    test(`have room again where they ${what} and were answered, or failed`, async () => {
      await using at = await world(() => ({ code: 500, text: '' }));
      for (let index = 0; index < 65; index += 1) await at.decide(`${padding}${index}`);
      at.speech.say = says({ allowed: true });
      for (let index = 0; index < 65; index += 1) {
        assert.equal((await at.decide(`${padding}${index}`)).verdict, 'allow');
      }
    });
  }

  test('are answered in the end where many ask about a user whom the other server is slow about', async () => {
    const release = Promise.withResolvers<void>();
    await using at = await world(
      async () => {
        await release.promise;
        return { status: { allowed: true } };
      },
      { timeoutMs },
    );
    const others = Array.from({ length: 100 }, (_, index) => at.decide(`${index}`));
    const own = at.decide('own');
    await waitFor('those under way', () => at.asked.length === 64);
    release.resolve();
    for (const { verdict } of await Promise.all([...others, own])) assert.equal(verdict, 'allow');
    assert.equal(at.logged(), '');
  });

  test('are refused beyond their number where that is wanted', async () => {
    await using at = await world(hangsForJane, { timeoutMs, failurePolicy: 'Deny' });
    for (let index = 0; index < 64 + 256; index += 1) void at.decide(`${index}`);
    assert.equal((await at.decide('over')).verdict, 'deny');
    assert.match(at.logged(), janes);
  });

  test('are 1024 about all users, long ones too', async () => {
    const long = 'n'.repeat(10_001);
    await using at = await world(() => 'hang', { timeoutMs });
    for (let index = 0; index < 1024; index += 1) void at.decideFor(`user-${index % 16}`, long + index);
    assert.equal((await at.decideFor('joe', long)).verdict, 'noOpinion');
    assert.match(at.logged(), /no answer: too many questions wait for it already/);
  });
});

describe('the kubeconfig of a webhook', () => {
  /** The service that looks at it, and a way to have it look until it has said something. */
  function follow(at: Awaited<ReturnType<typeof world>>) {
    const stop = new AbortController();
    const running = at.reload.run(stop.signal, () => undefined);
    return {
      until: (told: RegExp) =>
        waitFor(String(told), async () => {
          await at.clock.advance(5000);
          return told.test(at.logged());
        }),
      async [Symbol.asyncDispose]() {
        stop.abort();
        await running;
      },
    };
  }

  test('is followed: another server is asked from then on, about everything anew', async () => {
    await using at = await world(says({ allowed: true }));
    await using next = await answeringServer(says({ allowed: false }));
    assert.equal((await at.decide()).verdict, 'allow');
    await copyFile(next.kubeconfig, at.kubeconfig);
    await using following = follow(at);
    await following.until(/the address and credentials of the authorization webhook have changed/);
    assert.equal((await at.decide()).verdict, 'noOpinion');
    assert.deepEqual([at.asked.length, next.asked.length], [1, 1]);
  });

  test('that cannot be used changes nothing, and is told once', async () => {
    await using at = await world(says({ allowed: true }));
    await writeFile(at.kubeconfig, 'clusters: [');
    await using following = follow(at);
    await following.until(/those of before stay in use/);
    for (let looks = 0; looks < 20; looks += 1) {
      await at.clock.advance(5000);
      await setImmediate();
    }
    await rm(at.kubeconfig);
    await following.until(/ENOENT/);
    assert.equal(at.logged().split('those of before stay in use').length - 1, 2, 'one for each problem');
    assert.equal((await at.decide()).verdict, 'allow');
  });

  test('is followed while somebody waits for the server of before, who still gets the answer', async () => {
    const release = Promise.withResolvers<void>();
    await using at = await world(async () => {
      await release.promise;
      return { status: { allowed: true } };
    });
    await using next = await answeringServer(says({ allowed: false }));
    const waiting = at.decide();
    await waitFor('the question', () => at.asked.length === 1);
    await copyFile(next.kubeconfig, at.kubeconfig);
    await using following = follow(at);
    await following.until(/have changed/);
    release.resolve();
    assert.equal((await waiting).verdict, 'allow');
    assert.equal((await at.decide()).verdict, 'noOpinion', 'what the one of before said is not kept');
  });
});

describe('what a webhook was asked', () => {
  test('is counted by what came of it', async () => {
    await using at = await world(says({ allowed: true }));
    await at.decide();
    await at.decide(); // known by now
    at.speech.say = says({ allowed: false, denied: true });
    await at.decide('denied');
    at.speech.say = () => ({ code: 500, text: '' });
    await at.decide('failed');
    const text = await at.metrics();
    const prefix = 'apiserver_authorization';
    for (const line of [
      `${prefix}_webhook_evaluations_total{name="webhook",result="success"} 2`,
      `${prefix}_webhook_evaluations_total{name="webhook",result="error"} 1`,
      `${prefix}_webhook_evaluations_fail_open_total{name="webhook",result="error"} 1`,
      `${prefix}_decisions_total{type="Webhook",name="webhook",decision="allowed"} 1`,
      `${prefix}_decisions_total{type="Webhook",name="webhook",decision="denied"} 1`,
      `${prefix}_webhook_duration_seconds_count{name="webhook",result="success"} 2`,
    ])
      assert.ok(text.includes(line), `${line}\n${text}`);
  });
});

describe('a server with a webhook', () => {
  test('asks about what roles do not allow, and about nothing else', async () => {
    await using other = await answeringServer(({ spec }) => ({
      status:
        spec['user'] === 'stranger' ? { allowed: true } : { allowed: false, denied: true, reason: 'no' },
    }));
    await using server = await startServer({ authorization: { webhook: { kubeconfig: other.kubeconfig } } });
    await server.admin.must('GET', nodes);
    assert.equal(other.asked.length, 0);
    await server.stranger.must('GET', nodes);
    assert.equal(other.asked.length, 1);
    const someone = server.holder(await server.issue({ commonName: 'someone' }));
    await someone.refused('Forbidden', 'GET', nodes);
    const review = await server.admin.must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user: 'someone', nonResourceAttributes: { path: '/x', verb: 'get' } },
    });
    assert.deepEqual(review.status, { allowed: false, denied: true, reason: 'no' });
  });
});
