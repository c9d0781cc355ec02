import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { parse } from 'yaml';
import { decodeEnvelope } from '../../../../src/api/codec/protobuf/index.ts';
import {
  apiVersionOf,
  componentStatus,
  groupName,
  measuredKinds,
  resolveGates,
  servedKinds,
  withoutGated,
} from '../../../../src/api/index.ts';
import { createAggregatedDiscovery } from '../../../../src/apiserver/http/documents/aggregated-discovery.ts';
import { listGroupVersions } from '../../../../src/apiserver/http/documents/groups.ts';
import { createDiscoveryDocuments } from '../../../../src/apiserver/http/documents/legacy-discovery.ts';
import type { Reply } from '../support/index.ts';
import { startServer } from '../support/index.ts';
import { getBytes } from './get-bytes.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

/** A resource as the documents of a group and version tell of it. */
interface Resource {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}
interface ResponseKind {
  group: string;
  version: string;
  kind: string;
}
interface Aggregated {
  kind: string;
  apiVersion: string;
  items: {
    metadata: { name?: string };
    versions: {
      version: string;
      freshness: string;
      resources: {
        resource: string;
        responseKind: ResponseKind;
        scope: string;
        singularResource: string;
        verbs: string[];
        shortNames?: string[];
        categories?: string[];
        subresources?: { subresource: string; responseKind: ResponseKind; verbs: string[] }[];
      }[];
    }[];
  }[];
}

const aggregatedType = (group: string, version: string) =>
  `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;

async function get(path: string, accept = 'application/json'): Promise<Reply> {
  const reply = await admin.request('GET', path, { headers: { accept } });
  assert.equal(reply.code, 200, reply.text);
  return reply;
}

async function documentAt<T>(path: string, accept?: string): Promise<T> {
  return JSON.parse((await get(path, accept)).text);
}

async function groupVersions(): Promise<{ path: string; groupVersion: string }[]> {
  const { versions } = await documentAt<{ versions: string[] }>('/api');
  const { groups } = await documentAt<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis');
  const named = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));
  return [
    ...versions.map((version) => ({ path: `/api/${version}`, groupVersion: version })),
    ...named.map((groupVersion) => ({ path: `/apis/${groupVersion}`, groupVersion })),
  ];
}

async function legacy(): Promise<Map<string, Resource[]>> {
  const found = new Map<string, Resource[]>();
  for (const { path, groupVersion } of await groupVersions()) {
    const list = await documentAt<{ kind: string; groupVersion: string; resources: Resource[] }>(path);
    assert.deepEqual([list.kind, list.groupVersion], ['APIResourceList', groupVersion]);
    found.set(groupVersion, list.resources);
  }
  return found;
}

/** What an aggregated document says, in the words of the others. */
function asLegacy({ items }: Aggregated): Map<string, Resource[]> {
  const elsewhere = ({ group, version }: ResponseKind) => (version === '' ? {} : { group, version });
  return new Map(
    items.flatMap(({ metadata: { name = '' }, versions }) =>
      versions.map(({ version, resources }): [string, Resource[]] => [
        name === '' ? version : `${name}/${version}`,
        resources.flatMap(
          ({ resource, responseKind, scope, singularResource, subresources = [], ...rest }) => [
            {
              name: resource,
              singularName: singularResource,
              namespaced: scope === 'Namespaced',
              ...elsewhere(responseKind),
              kind: responseKind.kind,
              ...rest,
            },
            ...subresources.map((part) => ({
              name: `${resource}/${part.subresource}`,
              singularName: '',
              namespaced: scope === 'Namespaced',
              ...elsewhere(part.responseKind),
              kind: part.responseKind.kind,
              verbs: part.verbs,
            })),
          ],
        ),
      ]),
    ),
  );
}

describe('the documents of discovery', () => {
  test('tell of every kind and each of its parts, by name', async () => {
    const documents = await legacy();
    const told = [...documents].flatMap(([groupVersion, resources]) => {
      const names = resources.map(({ name }) => name);
      assert.deepEqual(names, names.toSorted(), groupVersion);
      return names.map((name) => `${groupVersion} ${name}`);
    });
    const kinds = [...servedKinds, componentStatus, ...measuredKinds].map((kind) =>
      withoutGated(kind, resolveGates({})),
    );
    const expected = kinds.flatMap(({ group, version, resource, subresources }) => {
      const groupVersion = apiVersionOf({ group, version }, 'k8s.io');
      const parts = subresources.map(({ name }) => `${groupVersion} ${resource}/${name}`);
      return [`${groupVersion} ${resource}`, ...parts];
    });
    assert.deepEqual(told.toSorted(), expected.toSorted());
  });

  test('tell that whatever can be updated can be patched, but for the finalizers of a namespace', async () => {
    const aggregated = await documentAt<Aggregated>('/apis', aggregatedType('apidiscovery.k8s.io', 'v2'));
    for (const documents of [await legacy(), asLegacy(aggregated)]) {
      const resources = [...documents.values()].flat();
      const namesBy = (verb: string) =>
        resources.filter(({ verbs }) => verbs.includes(verb)).map(({ name }) => name);
      const updated = namesBy('update').filter((name) => name !== 'namespaces/finalize');
      assert.deepEqual(namesBy('patch'), updated);
      assert.ok(updated.includes('leases'));
    }
  });

  test('tell of a resource what the reference tells', async () => {
    const resources = (await legacy()).get('v1');
    assert.deepEqual(
      resources?.find(({ name }) => name === 'nodes'),
      {
        name: 'nodes',
        singularName: 'node',
        namespaced: false,
        kind: 'Node',
        verbs: servedKinds.find(({ kind }) => kind === 'Node')?.verbs.toSorted(),
        shortNames: ['no'],
        storageVersionHash: 'XwShjMxG9Fs=',
      },
    );
    assert.deepEqual(resources?.find(({ name }) => name === 'pods')?.categories, ['all']);
    const status = resources?.find(({ name }) => name === 'nodes/status');
    assert.deepEqual([status?.singularName, status?.kind, status?.group], ['', 'Node', undefined]);
  });

  test('list the groups in the order in which clients look for names', async () => {
    const order = (await groupVersions()).map(({ groupVersion }) => groupVersion);
    const reference = [
      ...[
        'v1',
        'apiregistration.k8s.io/v1',
        'apps/v1',
        'events.k8s.io/v1',
        'authentication.k8s.io/v1',
        'authorization.k8s.io/v1',
      ],
      ...[
        'autoscaling/v2',
        'autoscaling/v1',
        'batch/v1',
        'certificates.k8s.io/v1',
        'certificates.k8s.io/v1beta1',
      ],
      ...['networking.k8s.io/v1', 'policy/v1', 'rbac.authorization.k8s.io/v1', 'storage.k8s.io/v1'],
      ...['admissionregistration.k8s.io/v1'],
      ...['scheduling.k8s.io/v1', 'coordination.k8s.io/v1', 'node.k8s.io/v1', 'discovery.k8s.io/v1'],
      ...['resource.k8s.io/v1', 'flowcontrol.apiserver.k8s.io/v1', 'access.nodeward.io/v1'],
      ...['metrics.k8s.io/v1beta1', 'scheduling.nodeward.io/v1'],
    ];
    assert.deepEqual(
      order,
      reference.filter((each) => order.includes(each)),
    );
  });

  test('name a group in its own document as in the list', async () => {
    const { groups } = await documentAt<{ groups: { name: string }[] }>('/apis');
    assert.ok(groups.length > 2);
    for (const group of groups) {
      assert.deepEqual(await documentAt(`/apis/${group.name}`), {
        kind: 'APIGroup',
        apiVersion: 'v1',
        ...group,
      });
    }
  });

  test('tell where the server was reached', async () => {
    const { serverAddressByClientCIDRs: addresses } = await documentAt<{
      serverAddressByClientCIDRs: object[];
    }>('/api');
    assert.deepEqual(addresses, [{ clientCIDR: '0.0.0.0/0', serverAddress: `127.0.0.1:${server.port}` }]);
  });
});

describe('the documents in other encodings', () => {
  test('say the same in YAML', async () => {
    const reply = await get('/apis', 'application/yaml');
    assert.equal(reply.headers['content-type'], 'application/yaml');
    assert.deepEqual(parse(reply.text), await documentAt('/apis'));
  });

  test('are protobuf messages with the published numbers', async () => {
    for (const name of ['kubernetes', 'cluster']) {
      const accept = `application/vnd.${name}.protobuf`;
      const { headers, bytes } = await getBytes(admin.tlsOptions, '/api/v1', { accept });
      assert.equal(headers['content-type'], accept);
      const { kind, apiVersion, raw } = decodeEnvelope(bytes);
      assert.deepEqual([kind, apiVersion], ['APIResourceList', 'v1']);
      const list = fieldsOf(raw);
      assert.equal(textOf(list, 1), 'v1');
      const nodes = (list.get(2) ?? [])
        .map((resource) => fieldsOf(resource))
        .find((fields) => textOf(fields, 1) === 'nodes');
      assert.ok(nodes);
      assert.deepEqual([textOf(nodes, 3), textOf(nodes, 6), textOf(nodes, 5)], ['Node', 'node', 'no']);
      const verbs = fieldsOf(nodes.get(4)?.[0] ?? new Uint8Array()).get(1) ?? [];
      const { resources } = await documentAt<{ resources: Resource[] }>('/api/v1');
      assert.deepEqual(
        verbs.map((verb) => Buffer.from(verb).toString()),
        resources.find((resource) => resource.name === 'nodes')?.verbs,
      );
    }
  });
});

/** What is in a message, by number; only what has a length. */
function fieldsOf(message: Uint8Array): Map<number, Uint8Array[]> {
  const reader = new BinaryReader(message);
  const found = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited)
      found.set(number, [...(found.get(number) ?? []), reader.bytes()]);
    else reader.skip(wireType);
  }
  return found;
}

function textOf(fields: ReadonlyMap<number, Uint8Array[]>, number: number): string {
  return Buffer.from(fields.get(number)?.[0] ?? []).toString();
}

describe('aggregated discovery', () => {
  for (const version of ['v2', 'v2beta1']) {
    test(`${version} says the same as the documents one by one`, async () => {
      const accept = `${aggregatedType('apidiscovery.k8s.io', version)},application/json`;
      const told = new Map<string, Resource[]>();
      for (const path of ['/api', '/apis']) {
        const reply = await get(path, accept);
        assert.equal(reply.headers['content-type'], aggregatedType('apidiscovery.k8s.io', version));
        const list: Aggregated = JSON.parse(reply.text);
        assert.equal(list.kind, 'APIGroupDiscoveryList');
        assert.equal(list.apiVersion, `apidiscovery.k8s.io/${version}`);
        assert.ok(
          list.items.every((item) => item.versions.every(({ freshness }) => freshness === 'Current')),
        );
        for (const [groupVersion, resources] of asLegacy(list)) told.set(groupVersion, resources);
      }
      const expected = [...(await legacy())].map(([groupVersion, resources]) => [
        groupVersion,
        resources.map(({ storageVersionHash: _hash, ...rest }) => rest),
      ]);
      assert.deepEqual([...told], expected);
    });
  }

  test('is only had by its full name; else the next that is taken is sent', async () => {
    const asked = aggregatedType('apidiscovery.k8s.io', 'v2');
    const { headers } = await get('/apis', `${asked};profile=nopeer,application/json`);
    assert.equal(headers['content-type'], asked, 'a parameter more is no matter');
    const other = await get('/apis', `${asked.replace('v=v2', 'v=v3')},application/json`);
    assert.equal(other.headers['content-type'], 'application/json');
    const refused = { headers: { accept: asked.replace('v=v2', 'v=v3') } };
    await admin.refused('NotAcceptable', 'GET', '/apis', refused);
    await admin.refused('NotAcceptable', 'GET', '/apis/coordination.k8s.io', { headers: { accept: asked } });
  });

  test('has the configured name of its group too', () => {
    const groups = listGroupVersions(servedKinds, 'example.com');
    const text = JSON.stringify(
      createAggregatedDiscovery(groups, 'example.com', 'apidiscovery.example.com/v2'),
    );
    assert.match(text, /coordination\.example\.com/);
    assert.doesNotMatch(text, /k8s\.io/);
  });
});

describe('a document that a client has', () => {
  test('is not sent again: 304 with the same tag', async () => {
    const asked = aggregatedType('apidiscovery.k8s.io', 'v2');
    for (const [path, accept] of [
      ['/apis', asked],
      ['/apis', 'application/json'],
      ['/api', asked],
      ['/api', 'application/json'],
      ['/api/v1', 'application/json'],
      ['/', 'application/json'],
    ] as const) {
      const first = await get(path, accept);
      const { etag = '' } = first.headers;
      assert.match(etag, /^"[0-9A-F]{64}"$/);
      assert.equal(first.headers.vary, 'Accept');
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await admin.request('GET', path, { headers: { accept, 'if-none-match': known } });
        assert.deepEqual([again.code, again.text, again.headers.etag], [304, '', etag]);
      }
      const other = await admin.request('GET', path, { headers: { accept, 'if-none-match': '"other"' } });
      assert.deepEqual([other.code, other.text], [200, first.text]);
    }
  });

  test('has another tag in another form', async () => {
    const [one, other] = [
      await get('/apis'),
      await get('/apis', aggregatedType('apidiscovery.k8s.io', 'v2')),
    ];
    assert.notEqual(one.headers.etag, other.headers.etag);
  });
});

test('HEAD tells of every path what GET does, without a body', async () => {
  const { paths } = await documentAt<{ paths: string[] }>('/');
  for (const path of ['/', ...paths].filter((each) => !/metrics|healthz|livez|readyz/.test(each))) {
    const [got, head] = [await admin.request('GET', path), await admin.request('HEAD', path)];
    assert.deepEqual([head.code, head.text], [got.code, ''], path);
    for (const name of ['content-type', 'content-length', 'etag'])
      assert.equal(head.headers[name], got.headers[name], `${path} ${name}`);
  }
});

describe('the list of paths', () => {
  test('is complete: every path of the server that is no object is in it, and can be had', async () => {
    const { paths } = await documentAt<{ paths: string[] }>('/');
    assert.deepEqual(paths, paths.toSorted());
    for (const path of paths) {
      const { code } = await admin.request('GET', path);
      assert.equal(code, 200, path);
    }
    const expected = [
      ...[
        '/api',
        '/apis',
        '/healthz',
        '/livez',
        '/metrics',
        '/openapi/v2',
        '/openapi/v3',
        '/readyz',
        '/version',
      ],
      ...(await groupVersions()).flatMap(({ path }) => [path, `/openapi/v3${path}`]),
    ];
    assert.deepEqual(
      expected.filter((path) => !paths.includes(path)),
      [],
    );
  });

  test('is for whoever may read it', async () => {
    await server.stranger.refused('Forbidden', 'GET', '/');
    await server.nobody.refused('Unauthorized', 'GET', '/');
  });
});

describe('access', () => {
  test('whoever is known may ask what is served; others only which version it is', async () => {
    const { paths } = await documentAt<{ paths: string[] }>('/');
    for (const path of paths.filter((each) => /^\/(api|apis|openapi|version)\b/.test(each))) {
      const { code } = await server.stranger.request('GET', path);
      assert.equal(code, 200, path);
      const { code: withoutCredentials } = await server.nobody.request('GET', path);
      assert.equal(withoutCredentials, path === '/version' ? 200 : 401, path);
    }
  });

  test('nothing is written there', async () => {
    for (const path of ['/', '/api', '/apis', '/api/v1', '/openapi/v2', '/openapi/v3']) {
      const { reply } = await admin.refused('MethodNotAllowed', 'POST', path);
      assert.equal(reply.headers.allow, 'GET, HEAD');
    }
  });
});

test('whoever is known is told that there are no custom resources, as kubectl asks before it creates a review', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { code, text } = await server.stranger.request('GET', path);
  assert.equal(code, 200);
  assert.partialDeepStrictEqual(JSON.parse(text), { kind: 'CustomResourceDefinitionList', items: [] });
  const { groups } = await documentAt<{ groups: { name: string }[] }>('/apis');
  assert.ok(groups.every(({ name }) => !name.startsWith('apiextensions')));
});

describe('without a kind', () => {
  test('the documents are as if there had never been one', () => {
    for (const gone of servedKinds) {
      const groups = listGroupVersions(
        servedKinds.filter((kind) => kind !== gone),
        'k8s.io',
      );
      const documents = [...createDiscoveryDocuments(groups, 'k8s.io')];
      const groupVersion = apiVersionOf(gone, 'k8s.io');
      const here = documents.find(([path]) => path.endsWith(`/${groupVersion}`));
      assert.doesNotMatch(JSON.stringify(here ?? ''), new RegExp(`"name":"${gone.resource}["/]`));
      const group = groupName(gone.group, 'k8s.io');
      const items = createAggregatedDiscovery(groups, 'k8s.io', 'apidiscovery.k8s.io/v2');
      const told = asLegacy(JSON.parse(JSON.stringify(items))).get(groupVersion) ?? [];
      assert.ok(!told.some(({ name }) => name.split('/')[0] === gone.resource), gone.kind);
      if (!servedKinds.some((kind) => kind !== gone && kind.group === gone.group)) {
        assert.ok(!documents.some(([path]) => path.includes(group)), `the group of ${gone.kind}`);
      }
    }
  });
});
