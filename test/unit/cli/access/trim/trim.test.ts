import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadYamlReader } from '../../../../../src/api/index.ts';
import { exitCodes } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import {
  binding,
  bindingsIn,
  clusterBindings,
  clusterRoles,
  role,
  user,
} from '../../../apiserver/authz/rbac/served.ts';
import { configMaps, startServer } from '../../../apiserver/support/index.ts';
import { runCommandLine } from '../../run-command.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());
const readYaml = await loadYamlReader();

let second = 0;
/** An entry of an audit log: jane was let get pod web in namespace team, unless something else is said. */
function entry({ user: name = 'jane', uri = '', allowed = true, ref = {}, ...more }: Entry = {}): string {
  second++;
  const at = new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();
  return JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: `id-${second}`,
    stage: 'ResponseComplete',
    requestURI: uri,
    verb: 'get',
    user: { username: name, groups: ['system:authenticated'] },
    ...(uri === '' ? { objectRef: { resource: 'pods', namespace: 'team', name: 'web', ...ref } } : {}),
    responseStatus: { code: 200 },
    requestReceivedTimestamp: at,
    stageTimestamp: at,
    annotations: { 'authorization.k8s.io/decision': allowed ? 'allow' : 'forbid' },
    ...more,
  });
}

interface Entry {
  user?: string;
  uri?: string;
  allowed?: boolean;
  ref?: object;
  verb?: string;
  [more: string]: unknown;
}

/** What is told of jane by these lines, without a server. */
async function trimmed(lines: readonly string[], ...args: string[]) {
  const all = ['access', 'trim', '--as=jane', '--audit-log=-', '--offline', '-o', 'json', ...args];
  const { code, stdout, stderr } = await runCommandLine(all, lines.map((line) => `${line}\n`).join(''));
  assert.equal(code, exitCodes.ok, stderr);
  return JSON.parse(stdout);
}

interface Role {
  kind: string;
  metadata: { namespace?: string };
  rules: object[];
}

/** The rules of the roles by their namespaces; empty for the ClusterRole. */
async function rules(lines: readonly string[], ...args: string[]): Promise<Record<string, object[]>> {
  const { objects } = await trimmed(lines, ...args);
  const roles = objects.filter(({ kind }: Role) => kind.endsWith('Role'));
  return Object.fromEntries(roles.map((each: Role) => [each.metadata.namespace ?? '', each.rules]));
}

const podRule = (...verbs: string[]) => ({ verbs, apiGroups: [''], resources: ['pods'] });

describe('the least that covers what an audit log has', () => {
  test('is for the names that were used, where they are few and can be named', async () => {
    const get = (name: string, verb = 'get') => entry({ verb, ref: { name } });
    assert.deepEqual(await rules([get('a'), get('b'), get('a', 'delete')]), {
      team: [
        { ...podRule('delete'), resourceNames: ['a'] },
        { ...podRule('get'), resourceNames: ['a', 'b'] },
      ],
    });
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => get(name));
    assert.deepEqual(await rules(many), { team: [podRule('get')] });
    assert.deepEqual(await rules(many.slice(0, 2), '--most-names=1'), { team: [podRule('get')] });
    const unnamed = [entry({ verb: 'list', ref: { name: undefined } }), get('a', 'list')];
    assert.deepEqual(await rules(unnamed), { team: [podRule('list')] });
    assert.deepEqual(await rules([get('a', 'watch')]), {
      team: [{ ...podRule('watch'), resourceNames: ['a'] }],
    });
  });

  test('never names what is created, nor what is deleted as a collection', async () => {
    const lines = [
      entry({ verb: 'create', ref: { name: 'new' } }),
      entry({ verb: 'deletecollection', ref: { name: 'x' } }),
      entry({ verb: 'create', ref: { subresource: 'exec' } }),
    ];
    assert.deepEqual(await rules(lines), {
      team: [
        podRule('create', 'deletecollection'),
        { ...podRule('create'), resources: ['pods/exec'], resourceNames: ['web'] },
      ],
    });
  });

  test('has the creation that a PUT or an apply was', async () => {
    const lines = [entry({ verb: 'patch', responseStatus: { code: 201 } })];
    assert.deepEqual(await rules(lines), {
      team: [podRule('create'), { ...podRule('patch'), resourceNames: ['web'] }],
    });
  });

  test('is for a namespace where that is enough, and told once where it is not', async () => {
    const lines = [
      entry({ verb: 'list', ref: { namespace: undefined, name: undefined } }),
      entry({ verb: 'list', ref: { name: undefined } }),
      entry({ verb: 'get', ref: { namespace: 'other' } }),
      entry({ verb: 'get', ref: { resource: 'nodes', namespace: undefined, name: 'n' } }),
    ];
    assert.deepEqual(await rules(lines), {
      '': [{ ...podRule('get'), resources: ['nodes'], resourceNames: ['n'] }, podRule('list')],
      other: [{ ...podRule('get'), resourceNames: ['web'] }],
    });
  });

  test('has the paths that are no objects, and of many what they have in common', async () => {
    const few = [entry({ uri: '/metrics?x=y' }), entry({ uri: '/healthz' })];
    assert.deepEqual(await rules(few), {
      '': [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/healthz'] }],
    });
    const many = Array.from({ length: 12 }, (_, number) => entry({ uri: `/openapi/v3/${number}` }));
    assert.deepEqual(await rules(many), {
      '': [{ verbs: ['get'], nonResourceURLs: ['/openapi', '/openapi/*'] }],
    });
  });

  test('counts what somebody did as somebody else for these, and the impersonation for the first', async () => {
    const as = (username: string, ...groups: string[]) =>
      entry({ user: 'root', impersonatedUser: { username, groups: [...groups, 'system:authenticated'] } });
    assert.deepEqual(await rules([as('jane')]), { team: [{ ...podRule('get'), resourceNames: ['web'] }] });
    const mine = JSON.parse(
      entry({ impersonatedUser: { username: 'system:serviceaccount:team:bot', groups: ['devs'] } }),
    );
    assert.deepEqual(await rules([JSON.stringify(mine)]), {
      '': [{ verbs: ['impersonate'], apiGroups: [''], resources: ['groups'], resourceNames: ['devs'] }],
      team: [
        { verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['bot'] },
      ],
    });
  });

  test('is nothing by what was refused, what others did, and what has no decision', async () => {
    const lines = [entry({ allowed: false }), entry({ user: 'joe' }), entry({ annotations: {} })];
    const { objects, use, notes } = await trimmed(lines);
    assert.deepEqual([objects, use.requests, use.refused], [[], 0, 1]);
    assert.ok(notes.includes('the log has nothing that it was allowed to do'));
  });

  test('counts a request of several stages once, and damaged lines without failing', async () => {
    const [line = ''] = [entry()];
    const lines = [line, line.replace('ResponseComplete', 'ResponseStarted'), '{"kind":"Ev', 'null', '{}'];
    const { use, log, notes } = await trimmed(lines);
    assert.deepEqual([use.requests, log.lines, log.damaged], [1, 5, 3]);
    assert.ok(notes.includes('3 lines are damaged and passed over'));
    assert.ok(notes.some((text: string) => text.includes('level None')));
  });

  test('says what no log tells: the rights behind the writing of rights', async () => {
    const ref = { apiGroup: 'rbac.authorization.k8s.io', resource: 'roles' };
    const { notes } = await trimmed([entry({ verb: 'update', ref })]);
    assert.ok(notes.some((text: string) => /escalate, bind/.test(text)));
  });

  test('is read from the files that were set aside, too, and tells how far they reach', async () => {
    const path = join(folder.path, 'audit.log');
    const lines = [entry({ verb: 'get' }), entry({ verb: 'delete' }), entry({ verb: 'list', user: 'joe' })];
    const times = lines.map((line) => JSON.parse(line).stageTimestamp);
    await writeFile(`${path}.2029-12-31T00-00-00.000Z`, `${lines[0]}\n`);
    await writeFile(path, `${lines[1]}\n${lines[2]}`);
    await writeFile(`${path}.bak`, `${entry({ verb: 'watch' })}\n`);
    const args = ['access', 'trim', '--as=User/jane', `--audit-log=${path}`, '--offline', '-o', 'json'];
    const { stdout } = await runCommandLine(args);
    const { log, use, objects } = JSON.parse(stdout);
    assert.deepEqual([log.lines, log.first, log.last], [3, times[0], times[2]]);
    assert.deepEqual([use.first, use.last], [times[0], times[1]]);
    assert.deepEqual(objects[0].rules, [{ ...podRule('delete', 'get'), resourceNames: ['web'] }]);
    const { code, stderr } = await runCommandLine([
      ...args.slice(0, 3),
      '--audit-log=/nowhere/x',
      '--offline',
    ]);
    assert.equal(code, exitCodes.configuration);
    assert.match(stderr, /^nodeward: the audit log \/nowhere\/x cannot be read/);
  });

  test('is for a service account, or for all of a group', async () => {
    const bot = 'system:serviceaccount:team:bot';
    const [line, inGroup] = [
      entry({ user: bot }),
      entry({ user: 'joe' }).replace('"system:auth', '"devs","system:auth'),
    ];
    for (const [subject, subjects] of [
      ['ServiceAccount/team/bot', [{ kind: 'ServiceAccount', namespace: 'team', name: 'bot' }]],
      ['Group/devs', [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }]],
    ] as const) {
      const args = ['access', 'trim', `--as=${subject}`, '--audit-log=-', '--offline', '-o', 'json'];
      const { stdout } = await runCommandLine(args, `${line}\n${inGroup}\n`);
      const { objects, use } = JSON.parse(stdout);
      assert.equal(use.requests, 1);
      assert.deepEqual(objects[1].subjects, subjects);
    }
    for (const subject of ['', 'Group/', 'ServiceAccount/bot']) {
      const { code } = await runCommandLine(['access', 'trim', `--as=${subject}`, '--audit-log=-']);
      assert.equal(code, exitCodes.usage, subject);
    }
  });

  test('shows nothing that would be applied, whatever stands in a name', async () => {
    const name = 'a\nkind: Evil\u2028kind: Evil';
    const args = ['access', 'trim', `--as=${name}`, '--audit-log=-', '--offline'];
    const { stdout } = await runCommandLine(args, entry({ user: name }));
    const documents = stdout.split(/^---$/m).map((text) => Object(readYaml(text).value));
    assert.deepEqual(
      documents.map(({ kind }) => kind),
      ['Role', 'RoleBinding'],
    );
    assert.equal(documents[1].subjects[0].name, name);
  });
});

describe('with the server that wrote the log', () => {
  test('the roles are enough for what was done, and what was not used is told', async () => {
    const policyFile = join(folder.path, 'policy.yaml');
    const logPath = join(folder.path, 'real.log');
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
    await writeFile(policyFile, JSON.stringify(policy));
    await using server = await startServer({ audit: { policyFile, logPath } });
    const { admin, stranger } = server;
    const all = { verbs: ['*'], apiGroups: [''], resources: ['configmaps'] };
    const nodes = { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] };
    await admin.must('POST', clusterRoles, role('wide', all, nodes));
    const given = binding('wide', 'ClusterRole', 'wide', user('stranger'));
    await admin.must('POST', clusterBindings, given);
    const doAll = async () => {
      await stranger.must('POST', configMaps('default'), { metadata: { name: 'x' } });
      await stranger.must('GET', `${configMaps('default')}/x`);
      await stranger.must('GET', configMaps('default'));
      await stranger.must('GET', '/apis');
      await stranger.must('DELETE', `${configMaps('default')}/x`);
      await stranger.must('GET', '/api/v1/nodes');
    };
    await doAll();
    await waitFor('the log', async () => (await readFile(logPath, 'utf8')).includes('/api/v1/nodes'));

    const args = ['access', 'trim', '--as=stranger', `--audit-log=${logPath}`];
    const { code, stdout, stderr } = await runCommandLine([
      ...args,
      '--kubeconfig',
      server.running.kubeconfig,
    ]);
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^# Held and not used in that time:\n# {3}\(everywhere\): get nodes$/m);
    assert.match(stdout, /^# Used in part only.*\n# {3}\(everywhere\): \* configmaps$/m);
    assert.match(stdout, /^# \d+ rights that everybody has are left out\.$/m);
    assert.match(stdout, /^# Note: what the audit policy leaves out \(level None\) is not in the log/m);
    assert.doesNotMatch(stdout, /nonResourceURLs/);

    await admin.must('DELETE', `${clusterBindings}/wide`);
    assert.equal((await stranger.request('GET', configMaps('default'))).code, 403);
    for (const text of stdout.split(/^---$/m)) {
      const object = Object(readYaml(text).value);
      const { kind, metadata } = object;
      const collection = `${kind.toLowerCase()}s`;
      const path =
        metadata.namespace === undefined
          ? `/apis/rbac.authorization.k8s.io/v1/${collection}`
          : `${bindingsIn('default').replace('rolebindings', collection)}`;
      await admin.must('POST', path, object);
    }
    await doAll();
    assert.equal((await stranger.request('GET', configMaps('kube-system'))).code, 403, 'and nothing else');
    assert.equal((await stranger.request('GET', `${configMaps('default')}/y`)).code, 403);
  });
});
