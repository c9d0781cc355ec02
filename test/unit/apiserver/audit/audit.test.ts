/** What an auditor finds in the log of a real server. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { AuditEvent } from '../../../../src/apiserver/audit/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { named, nodes, shiftedClock, startServer } from '../support/index.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

async function audited(rules: object[], more: object = {}, clock = shiftedClock()) {
  const folder = await temporaryFolder();
  const policyFile = join(folder.path, 'policy.yaml');
  const logPath = join(folder.path, 'audit.log');
  await writeFile(
    policyFile,
    JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...more, rules }),
  );
  const server = await startServer({ clock, audit: { policyFile, logPath } });
  return {
    server,
    /** The entries of a request, once there are that many. */
    async entries(id: unknown, count: number): Promise<AuditEvent[]> {
      assert.match(String(id), /^[0-9a-f-]{36}$/);
      return await waitFor('the entries', async () => {
        const lines = (await readFile(logPath, 'utf8')).split('\n').filter((line) => line !== '');
        const all: AuditEvent[] = lines.map((line) => JSON.parse(line));
        const own = all.filter(({ auditID }) => auditID === id);
        return own.length >= count && own;
      });
    },
    text: () => readFile(logPath, 'utf8'),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('the audit log', () => {
  test('tells who did what, when, whether they might and what came of it', async () => {
    await using at = await audited([{ level: 'Metadata' }]);
    const { headers } = await at.server.admin.request('GET', `${configMaps}/none?x=y`, {
      headers: { 'user-agent': 'kubectl/v1' },
    });
    const [received, complete] = await at.entries(headers['audit-id'], 2);
    assert.equal(received?.stage, 'RequestReceived');
    assert.equal(received.responseStatus, undefined);
    assert.ok(complete);
    const { auditID, requestReceivedTimestamp, stageTimestamp, sourceIPs, ...told } = complete;
    assert.equal(auditID, received.auditID);
    assert.match(requestReceivedTimestamp, /^\d{4}-.*T.*\.\d{6}Z$/);
    assert.ok(stageTimestamp >= requestReceivedTimestamp);
    assert.match(String(sourceIPs), /127\.0\.0\.1$/);
    assert.deepEqual(told, {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      stage: 'ResponseComplete',
      requestURI: `${configMaps}/none?x=y`,
      verb: 'get',
      user: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'kubectl/v1',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'none', apiVersion: 'v1' },
      responseStatus: { code: 404 },
      annotations: {
        'authorization.k8s.io/decision': 'allow',
        'authorization.k8s.io/reason': 'member of system:masters',
      },
    });
  });

  test('tells of those who may not, of those whom nobody knows, and of whom somebody is taken for', async () => {
    await using at = await audited([{ level: 'Metadata' }], { omitStages: ['RequestReceived'] });
    const { server } = at;
    const { reply: refused } = await server.stranger.refused('Forbidden', 'GET', nodes);
    const [denied] = await at.entries(refused.headers['audit-id'], 1);
    assert.equal(denied?.annotations?.['authorization.k8s.io/decision'], 'forbid');
    assert.equal(denied?.responseStatus?.code, 403);
    const { reply: unknown } = await server.nobody.refused('Unauthorized', 'GET', nodes, {
      headers: { authorization: 'Bearer some-secret-token' },
    });
    const [nobody] = await at.entries(unknown.headers['audit-id'], 1);
    assert.deepEqual(nobody?.user, { username: '', groups: [] });
    assert.equal(nobody?.responseStatus?.code, 401);
    const { reply } = await server.admin.refused('Forbidden', 'GET', nodes, {
      headers: { 'Impersonate-User': 'alice' },
    });
    const [taken] = await at.entries(reply.headers['audit-id'], 1);
    assert.equal(taken?.user.username, 'kubernetes-admin');
    assert.equal(taken.impersonatedUser?.username, 'alice');
    const master = { 'Impersonate-User': 'root', 'Impersonate-Group': 'system:masters' };
    const tried = await server.stranger.refused('Forbidden', 'GET', `${nodes}/n1`, { headers: master });
    const [attempt] = await at.entries(tried.reply.headers['audit-id'], 1);
    assert.equal(attempt?.user.username, 'stranger', 'who may not be somebody else is named');
    assert.deepEqual([attempt.objectRef?.['resource'], attempt.objectRef?.['name']], ['nodes', 'n1']);
    assert.equal(attempt.annotations?.['authorization.k8s.io/decision'], 'forbid');
    assert.doesNotMatch(await at.text(), /some-secret-token/);
  });

  test('keeps bodies for the levels that say so, in JSON whatever they came in', async () => {
    await using at = await audited([
      { level: 'Request', verbs: ['create'] },
      { level: 'RequestResponse', verbs: ['update', 'patch'] },
      { level: 'Metadata' },
    ]);
    const { admin } = at.server;
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1"}\n';
    const made = await admin.request('POST', configMaps, {
      body,
      headers: { 'content-type': 'application/yaml' },
    });
    assert.equal(made.code, 201, made.text);
    const [, created] = await at.entries(made.headers['audit-id'], 2);
    assert.deepEqual(Reflect.get(Object(created?.requestObject), 'data'), { x: '1' });
    assert.equal(created?.responseObject, undefined);
    const merged = await admin.request('PATCH', `${configMaps}/a`, {
      body: { data: { x: '2' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    assert.equal(merged.code, 200, merged.text);
    const [, patched] = await at.entries(merged.headers['audit-id'], 2);
    assert.deepEqual(patched?.requestObject, { data: { x: '2' } });
    assert.deepEqual(Reflect.get(Object(patched?.responseObject), 'data'), { x: '2' });
    const read = await admin.request('GET', `${configMaps}/a`);
    const [, got] = await at.entries(read.headers['audit-id'], 2);
    assert.equal(got?.requestObject ?? got?.responseObject, undefined);
    const broken = await admin.request('PUT', `${configMaps}/a`, { body: '{"x":' });
    assert.equal(broken.code, 400);
    assert.equal((await at.entries(broken.headers['audit-id'], 2))[1]?.requestObject, undefined);
  });

  test('keeps answers that were packed for the client, and leaves out what is too long for a line', async () => {
    await using at = await audited([{ level: 'RequestResponse' }]);
    const { admin } = at.server;
    const data = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`k${index}`, 'x'.repeat(10_000)]),
    );
    const made = await admin.request('POST', configMaps, {
      body: { metadata: { name: 'large' }, data },
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(made.code, 201, made.text);
    const packed = await admin.request('GET', `${configMaps}/large`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    const [, got] = await at.entries(packed.headers['audit-id'], 2);
    assert.deepEqual(Reflect.get(Object(got?.responseObject), 'data'), data);
    const huge = await admin.request('POST', configMaps, {
      body: { metadata: { name: 'huge' }, data: { k: 'x'.repeat(900_000) } },
    });
    assert.equal(huge.code, 201);
    const [, long] = await at.entries(huge.headers['audit-id'], 2);
    assert.equal(long?.requestObject, undefined);
    assert.equal(long?.annotations?.['audit.nodeward.io/bodies'], 'left out: too long');
  });

  test('never keeps what is in a Secret, unless a rule names that', async () => {
    await using at = await audited([{ level: 'RequestResponse' }]);
    const secrets = '/api/v1/namespaces/default/secrets';
    const body = { metadata: { name: 's' }, stringData: { password: 'hunter2-in-the-clear' } };
    const made = await at.server.admin.request('POST', secrets, { body });
    assert.equal(made.code, 201, made.text);
    await at.entries(made.headers['audit-id'], 2);
    const text = await at.text();
    assert.doesNotMatch(text, /hunter2/);
    assert.ok(!text.includes(Buffer.from('hunter2-in-the-clear').toString('base64')));
  });

  test('has an entry when a watch begins and one when it ends, also when its client just goes', async () => {
    await using at = await audited([{ level: 'Metadata', verbs: ['watch'] }]);
    const { server } = at;
    const watcher = server.holder(await server.issue({ organizations: ['system:masters'] }));
    const watch = await watcher.watch(configMaps);
    watch.ended.catch(() => undefined); // it is cut below
    const id = await waitFor('the first entries', async () => {
      const [line] = (await at.text()).split('\n');
      return line !== undefined && line !== '' && String(JSON.parse(line).auditID);
    });
    const [received, started] = await at.entries(id, 2);
    assert.deepEqual([received?.stage, started?.stage], ['RequestReceived', 'ResponseStarted']);
    assert.match(watch.contentType ?? '', /json/);
    watcher.close();
    const [, , ended] = await at.entries(id, 3);
    assert.equal(ended?.stage, 'ResponseComplete');
  });

  test('keeps nothing of what no rule fits', async () => {
    await using at = await audited([{ level: 'Metadata', users: ['somebody-else'] }]);
    await at.server.admin.request('GET', nodes);
    await at.server.nobody.request('GET', '/healthz');
    await at.server.stop();
    assert.equal(await at.text(), '');
  });

  test('tells of programs that go on with a token that was replaced', async () => {
    const clock = shiftedClock();
    await using at = await audited([{ level: 'Metadata' }], { omitStages: ['RequestReceived'] }, clock);
    const { admin, nobody } = at.server;
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await admin.must('POST', accounts, named('old'));
    const spec = { serviceAccountName: 'old', containers: [{ name: 'a', image: 'a' }] };
    await admin.must('POST', '/api/v1/namespaces/default/pods', { ...named('old'), spec });
    const { status } = await admin.must('POST', `${accounts}/old/token`, {
      spec: { expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'old' } },
    });
    const annotation = async () => {
      const headers = { authorization: `Bearer ${status?.['token']}` };
      const reply = await nobody.request('GET', '/api', { headers });
      assert.equal(reply.code, 200);
      const [entry] = await at.entries(reply.headers['audit-id'], 1);
      return entry?.annotations?.['authentication.k8s.io/stale-token'];
    };
    assert.equal(await annotation(), undefined);
    clock.shiftMs = 2 * 3600_000;
    const text = await annotation();
    const seconds =
      /^subject: system:serviceaccount:default:old, seconds after warning threshold: (\d+)$/.exec(
        text ?? '',
      )?.[1];
    assert.ok(Math.abs(Number(seconds) - 3593) < 10, text);
  });
});
