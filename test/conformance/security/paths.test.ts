import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Asker } from './asker.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';

/*
 * However a path is written, it leads to what it is judged by: nobody comes to a Secret, the metrics or another's object by
 * a way that the decision has not looked at.
 */

let server: SecuredServer;
/** May read ConfigMaps of the namespace `default` and the paths below `/openapi/` and `/healthz/`. */
let reader: Asker;

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const inDefault = '/api/v1/namespaces/default';

before(async () => {
  server = await startSecuredServer();
  reader = server.holder(await server.issue({ commonName: 'reader' }));
  const read = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] };
  const paths = { verbs: ['get'], nonResourceURLs: ['/openapi/*', '/healthz/*', '/%6detrics', '/m%65trics'] };
  await server.admin.must('POST', `${rbac}/namespaces/default/roles`, {
    metadata: { name: 'r' },
    rules: [read],
  });
  await server.admin.must('POST', `${rbac}/clusterroles`, { metadata: { name: 'r' }, rules: [paths] });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', name: 'r' };
  const binding = { metadata: { name: 'r' }, subjects: [{ kind: 'User', name: 'reader' }] };
  await server.admin.must('POST', `${rbac}/namespaces/default/rolebindings`, {
    ...binding,
    roleRef: { ...roleRef, kind: 'Role' },
  });
  await server.admin.must('POST', `${rbac}/clusterrolebindings`, {
    ...binding,
    roleRef: { ...roleRef, kind: 'ClusterRole' },
  });
  await server.admin.must('POST', `${inDefault}/configmaps`, { metadata: { name: 'canary' } });
});
after(() => server?.[Symbol.asyncDispose]());

/** The code of the answer to a target that is written as it is, byte by byte. */
async function codeOf(who: Asker, target: string, method = 'GET'): Promise<number> {
  using connection = await who.raw();
  connection.write(`${method} ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  const text = await connection.untilClosed();
  who.heard(`${method} ${target}`, text);
  const [code = 0] = connection.codes;
  assert.ok(code > 0 && code < 500, `${method} ${target}: ${text.slice(0, 300)}`);
  return code;
}

const secret = `${inDefault}/secrets/canary`;
const disguised: [string, string[]][] = [
  [
    'two slashes',
    [`/${secret}`, `//localhost${secret}`, secret.replaceAll('/', '//'), `${secret}//`, '//metrics'],
  ],
  ['a slash at the end', [`${secret}/`, `${inDefault}/secrets/`, '/metrics/', '/api/v1/secrets/']],
  ['dots', [`/healthz/..${secret}`, `/./${secret.slice(1)}`, `${inDefault}/configmaps/../secrets/canary`]],
  [
    'dots below what is permitted',
    ['/openapi/../metrics', '/healthz/../metrics', '/openapi/..', '/healthz/./../metrics'],
  ],
  [
    'encoded dots',
    [
      `/healthz/%2e%2e${secret}`,
      `${inDefault}/configmaps/%2e%2e/secrets/canary`,
      '/openapi/%2e%2e/metrics',
      '/openapi/.%2e/metrics',
    ],
  ],
  [
    'encoded slashes',
    [
      `${inDefault}/configmaps/..%2fsecrets%2fcanary`,
      `${inDefault}/configmaps/canary%2f..%2f..%2fsecrets%2fcanary`,
      `/api/v1/namespaces/default%2fsecrets/canary`,
      '/api/v1/namespaces/kube-system%2f..%2fdefault/secrets/canary',
      `/healthz%2f..%2fmetrics`,
      '/openapi/..%2fmetrics',
      `/api%2fv1%2fnamespaces%2fdefault%2fsecrets%2fcanary`,
    ],
  ],
  [
    'letters encoded',
    [
      secret.replace('secrets', '%73ecrets'),
      secret.replace('api', '%61pi'),
      '/%6detrics',
      '/m%65trics',
      '/%2fmetrics',
    ],
  ],
  [
    'letters encoded twice',
    [secret.replace('secrets', '%2573ecrets'), '/openapi/%252e%252e/metrics', '/%256detrics'],
  ],
  [
    'another case',
    [secret.replace('secrets', 'Secrets'), secret.toUpperCase(), '/METRICS', '/Metrics', '/API/v1/secrets'],
  ],
  [
    'a semicolon',
    [
      `${secret};x=y`,
      `/healthz;/..${secret}`,
      `${inDefault}/configmaps;/../secrets`,
      '/metrics;',
      '/healthz;x/../metrics',
    ],
  ],
  [
    'a NUL',
    [
      `${secret}%00`,
      `${inDefault}/configmaps%00/../secrets/canary`,
      '/healthz%00/metrics',
      '/metrics%00.json',
    ],
  ],
  ['line ends', [`${secret}%0d%0aauthorization:%20x`, '/healthz%0d%0ax', '/metrics%0a']],
  [
    'overlong UTF-8',
    [
      `${inDefault}/configmaps/%c0%ae%c0%ae/secrets/canary`,
      '/openapi/%c0%ae%c0%ae%c0%afmetrics',
      `${inDefault}/configmaps/%e0%80%af`,
    ],
  ],
  ['broken escapes', [`${secret}%`, `${secret}%2`, `/%zz${secret}`, '/metrics%', `${secret}%u002f`, '/%ff']],
  [
    'other slashes',
    [
      secret.replaceAll('/', '\\'),
      `/healthz\\..\\..${secret}`,
      '/openapi/..\\metrics',
      '/\u2215metrics'.replace('\u2215', '%e2%88%95'),
    ],
  ],
  [
    'a server in front',
    [
      `https://localhost${secret}`,
      `http://evil.example${secret}`,
      'https://localhost/metrics',
      'https://localhost/openapi/../metrics',
      `HTTPS://x${secret}`,
      `ftp://x${secret}`,
      'https://localhost',
    ],
  ],
  [
    'another form of a target',
    ['*', 'localhost:443', 'metrics', `api/v1/secrets`, '?', '?/metrics', '/?/metrics', `.${secret}`],
  ],
  [
    'something behind',
    [
      `${secret}?watch=1`,
      `${secret}?/../../configmaps`,
      `${secret}?pretty=1&x=%00`,
      '/metrics?x=/healthz',
      '/metrics?',
      '/api/v1/secrets?limit=1',
    ],
  ],
  [
    'a namespace that is none',
    [
      '/api/v1/namespaces//secrets/canary',
      '/api/v1/namespaces/./secrets',
      '/api/v1/namespaces/../secrets',
      '/api/v1/namespaces/%20/secrets/canary',
      '/api/v1/namespaces/*/secrets/canary',
    ],
  ],
  ['a fragment', [`/healthz#/..${secret}`, `${secret}#`, '/metrics#/healthz']],
];

describe('a path that is disguised', () => {
  for (const [how, targets] of disguised) {
    test(`by ${how} leads nowhere that is not permitted`, async () => {
      for (const target of targets) {
        const told = (code: number) => `${target}: ${code}`;
        const nobodys = await codeOf(server.nobody, target);
        assert.ok([400, 401].includes(nobodys), told(nobodys));
        for (const who of [server.stranger, reader]) {
          const code = await codeOf(who, target);
          assert.ok([400, 403, 404].includes(code), told(code));
          const deletion = await codeOf(who, target, 'DELETE');
          assert.ok([400, 403, 404].includes(deletion), told(deletion));
        }
      }
    });
  }
});

describe('a path that is permitted', () => {
  test('is so in whatever way it is written, and that is what is judged', async () => {
    for (const target of [
      `${inDefault}/configmaps/canary`,
      `${inDefault}/configmaps/%63anary`,
      `${inDefault}/c%6fnfigmaps/canary`,
      `https://localhost${inDefault}/configmaps/canary`,
      '/openapi/v3',
      '/openapi/%763',
      'https://localhost/openapi/v3',
    ]) {
      assert.equal(await codeOf(reader, target), 200, target);
    }
    const metrics = await server.issue({ commonName: 'prometheus', organizations: ['system:monitoring'] });
    const monitoring = server.holder(metrics);
    for (const target of ['/metrics', '/%6detrics', 'https://localhost/metrics']) {
      assert.equal(await codeOf(monitoring, target), 200, target);
    }
    assert.equal(await codeOf(monitoring, '/metric%73%2f..%2fapi'), 403);
  });

  test('to one object is none to another by its name', async () => {
    for (const name of [
      'canary%2fstatus',
      'canary%3fx',
      '%2e',
      '%2e%2e',
      '..%2fcanary',
      '%20',
      '%00',
      'a'.repeat(5000),
    ]) {
      const code = await codeOf(reader, `${inDefault}/configmaps/${name}`);
      assert.ok([400, 403, 404].includes(code), `${name}: ${code}`);
    }
  });
});

describe('a name in a body', () => {
  test('cannot be what no path could name', async () => {
    for (const name of ['a/b', '..', '.', 'a%2fb', '../canary', '%2e%2e']) {
      const body = { metadata: { name } };
      for (const path of ['configmaps', 'serviceaccounts', 'secrets'].map((each) => `${inDefault}/${each}`)) {
        await server.admin.refused('Invalid', 'POST', path, { body });
      }
      await server.admin.refused('Invalid', 'POST', `${rbac}/clusterroles`, { body: { ...body, rules: [] } });
    }
  });
});
