import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { below, withSeed } from '../../../support/repetition.ts';
import {
  allLeases,
  csrs,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  startServer,
  statusIn,
} from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const names = [
  'a',
  'b',
  'default',
  'kube-system',
  'x'.repeat(70),
  '..',
  '__proto__',
  'constructor',
  '%00',
  'é',
  '',
];
const collections = [
  nodes,
  namespaces,
  csrs,
  leases('default'),
  leases('a'),
  allLeases,
  '/api/v1/pods',
  '/nope',
  '',
];
const values = [
  '',
  '0',
  '1',
  '-1',
  'true',
  'All',
  'Strict',
  'Exact',
  'a=b',
  'a in (b',
  '%ff',
  '9'.repeat(14),
  'é',
];
const parameters = [
  ...[
    'dryRun',
    'fieldValidation',
    'fieldManager',
    'pretty',
    'labelSelector',
    'fieldSelector',
    'resourceVersion',
  ],
  ...['resourceVersionMatch', 'limit', 'continue', 'includeObject', 'propagationPolicy', 'nonsense'],
];

const place = fc.record({
  collection: fc.constantFrom(...collections),
  name: fc.option(fc.constantFrom(...names), { freq: 4 }),
  part: fc.option(fc.constantFrom('status', 'finalize', 'nope'), { freq: 1 }),
  query: fc.array(fc.tuple(fc.constantFrom(...parameters), fc.constantFrom(...values)), { maxLength: 2 }),
});

/** Creations mostly go to a collection, and changes to an object. */
function pathOf(
  method: string,
  { collection, name, part, query }: typeof place extends fc.Arbitrary<infer T> ? T : never,
) {
  const isCreation = method === 'POST' && part === null;
  const tail = isCreation
    ? ''
    : [name, part].map((each) => (each === null ? '' : `/${encodeURI(each)}`)).join('');
  const text = query.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  return `${collection}${tail}${text === '' ? '' : `?${text}`}` || '/';
}

const json = fc.jsonValue({ maxDepth: 3 });
const metadata = fc.record(
  {
    name: fc.oneof(fc.constantFrom(...names), json),
    generateName: fc.constantFrom('g-', '', 'G'),
    namespace: fc.constantFrom('default', 'a', ''),
    uid: fc.constantFrom('x', ''),
    resourceVersion: fc.constantFrom('', '1', 'x'),
    labels: fc.oneof(fc.dictionary(fc.string(), fc.string()), json),
    annotations: fc.dictionary(fc.string(), fc.string()),
    finalizers: fc.oneof(fc.constantFrom([], ['example.com/a'], ['x', 'x']), json),
    ownerReferences: fc.oneof(fc.constant([{}]), json),
    creationTimestamp: fc.oneof(fc.constant('2020-01-01T00:00:00Z'), json),
  },
  { requiredKeys: [] },
);
const object = fc.record(
  {
    kind: fc.constantFrom('Node', 'Lease', 'Namespace', 'DeleteOptions', 'Pod', ''),
    apiVersion: fc.constantFrom('v1', 'coordination.k8s.io/v1', 'x'),
    metadata: fc.oneof(metadata, json),
    spec: fc.oneof(fc.constantFrom({}, { finalizers: ['kubernetes'] }, { holderIdentity: 'x' }), json),
    status: json,
    preconditions: json,
    dryRun: json,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  { weight: 6, arbitrary: object.map((value) => JSON.stringify(value)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(named('a'), named('b'), lease('a'), lease('b')).map((v) => JSON.stringify(v)),
  },
  { weight: 1, arbitrary: json.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string() },
);
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'),
  place,
  body: fc.option(body, { freq: 6 }),
  type: fc.constantFrom(...Array.from({ length: 8 }, () => 'application/json'), 'text/plain', ''),
  accept: fc.constantFrom(
    ...[
      '*/*',
      'application/json',
      'application/json;as=Table;v=v1;g=meta.k8s.io, application/json',
      'text/html',
      ',;=,',
    ],
  ),
});

const served = [200, 201, 202];
const refused = [400, 403, 404, 405, 406, 409, 410, 413, 415, 422];

test('3,000 requests of any shape: an object or a Status, and never a failure of the server', async () => {
  const seen = new Map<number, number>();
  await withSeed(async (random) => {
    const samples = fc.sample(request, { numRuns: 3000, seed: below(2 ** 31, random) });
    for (let at = 0; at < samples.length; at += 25) {
      await Promise.all(
        samples.slice(at, at + 25).map(async ({ method, place: where, body: sent, type, accept }) => {
          const target = pathOf(method, where);
          if (/resourceVersion=99/.test(target)) return; // it would be waited for
          const send = sent === null || method === 'GET' || method === 'HEAD' ? {} : { body: sent };
          const headers = { accept, ...(sent === null ? {} : { 'content-type': type }) };
          const reply = await server.admin.request(method, target, { ...send, headers });
          seen.set(reply.code, (seen.get(reply.code) ?? 0) + 1);
          if (served.includes(reply.code)) return;
          assert.ok(refused.includes(reply.code), `${method} ${target} ${sent}: ${reply.code} ${reply.text}`);
          if (method !== 'HEAD') statusIn(reply);
        }),
      );
    }
  });
  for (const code of [200, 201, 400, 404, 405, 409, 415, 422])
    assert.ok(seen.has(code), `no answer was ${code}`);
  assert.equal((await server.admin.request('GET', '/readyz')).code, 200);
});
