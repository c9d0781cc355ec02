import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  componentStatus,
  groupName,
  measuredKinds,
  resolveGates,
  servedKinds,
  withoutGated,
} from '../../../../src/api/index.ts';
import { encodeSwagger2, swagger2Document } from '../../../../src/api/openapi/index.ts';
import { memoize } from '../../../../src/apiserver/http/documents/content.ts';
import type { DocumentOperation } from '../../api/openapi/document-parts.ts';
import { operationsIn } from '../../api/openapi/document-parts.ts';
import { startServer } from '../support/index.ts';
import { getBytes } from './get-bytes.ts';

const kinds = [...servedKinds, componentStatus, ...measuredKinds].map((kind) =>
  withoutGated(kind, resolveGates({})),
);
const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const protobufAnswer = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

async function index(): Promise<Map<string, string>> {
  const reply = await admin.request('GET', '/openapi/v3');
  assert.equal(reply.code, 200, reply.text);
  const { paths }: { paths: Record<string, { serverRelativeURL: string }> } = JSON.parse(reply.text);
  return new Map(Object.entries(paths).map(([name, { serverRelativeURL }]) => [name, serverRelativeURL]));
}

describe('the documents of OpenAPI 3.0', () => {
  test('are listed for every group and version, each with its hash', async () => {
    const groups = new Set(
      kinds.map(({ group, version }) =>
        group === '' ? `api/${version}` : `apis/${groupName(group, 'k8s.io')}/${version}`,
      ),
    );
    const found = await index();
    assert.deepEqual(new Set(found.keys()), groups);
    for (const [name, url] of found)
      assert.match(url, new RegExp(`^/openapi/v3/${name}\\?hash=[0-9A-F]{64}$`));
  });

  test('hold the kinds of their group', async () => {
    for (const [name, url] of await index()) {
      const { text } = await admin.request('GET', url);
      const { openapi, paths }: { openapi: string; paths: Record<string, unknown> } = JSON.parse(text);
      assert.equal(openapi, '3.0.0');
      const resources = kinds.filter(
        ({ group, version }) =>
          name === (group === '' ? `api/${version}` : `apis/${groupName(group, 'k8s.io')}/${version}`),
      );
      for (const { resource } of resources) {
        assert.ok(
          Object.keys(paths).some((path) => path.startsWith(`/${name}/`) && path.includes(`/${resource}`)),
          resource,
        );
      }
    }
  });

  test('asked for by their hash may be kept for good, asked for without it not', async () => {
    const url = (await index()).get('api/v1') ?? assert.fail();
    const kept = await admin.request('GET', url);
    assert.equal(kept.code, 200);
    assert.equal(kept.headers['cache-control'], 'public, max-age=31536000, immutable');
    const [path = ''] = url.split('?');
    const asked = await admin.request('GET', path);
    assert.deepEqual([asked.code, asked.text], [200, kept.text]);
    assert.equal(asked.headers['cache-control'], 'no-cache, private');
  });

  test('asked for by another hash lead to the one of now', async () => {
    const url = (await index()).get('apis/coordination.k8s.io/v1') ?? assert.fail();
    const moved = await admin.request('GET', url.replace(/hash=.*/, 'hash=ABC'));
    assert.deepEqual([moved.code, moved.headers.location], [301, url]);
    assert.doesNotMatch(String(moved.headers['cache-control']), /public/);
    assert.equal((await admin.request('GET', String(moved.headers.location))).code, 200);
  });

  test('are in JSON only', async () => {
    const url = (await index()).get('api/v1') ?? assert.fail();
    for (const path of [url, '/openapi/v3']) {
      const refused = { headers: { accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf' } };
      const { message } = await admin.refused('NotAcceptable', 'GET', path, refused);
      assert.match(String(message), /application\/json/);
      const { headers } = await admin.request('GET', path, { headers: { accept: 'application/*' } });
      assert.equal(headers['content-type'], 'application/json');
    }
  });

  test('of a group that is not there are not there', async () => {
    await admin.refused('NotFound', 'GET', '/openapi/v3/apis/apps/v1beta1');
    await admin.refused('NotFound', 'GET', '/openapi/v1');
  });
});

describe('the document of Swagger 2.0', () => {
  const expected = JSON.stringify(swagger2Document({ kinds, groupSuffix: 'k8s.io' }));

  test('is had in JSON', async () => {
    for (const accept of [
      'application/json',
      '*/*',
      `text/html, application/json;q=0.9, ${protobuf};q=0.5`,
    ]) {
      const reply = await admin.request('GET', '/openapi/v2', { headers: { accept } });
      assert.equal(reply.headers['content-type'], 'application/json');
      assert.deepEqual(JSON.parse(reply.text).definitions, JSON.parse(expected).definitions);
    }
  });

  test('is had in protobuf, under both names, with the one that is a media type', async () => {
    const bytes = encodeSwagger2(JSON.parse(expected));
    for (const accept of [protobuf, protobufAnswer, `application/x-unknown, ${protobuf}, application/json`]) {
      const reply = await getBytes(admin.tlsOptions, '/openapi/v2', { accept });
      assert.equal(reply.headers['content-type'], protobufAnswer);
      assert.equal(reply.bytes.length, bytes.length);
    }
  });

  test('is had in nothing else', async () => {
    await admin.refused('NotAcceptable', 'GET', '/openapi/v2', { headers: { accept: 'application/yaml' } });
  });
});

describe('a large document', () => {
  test('is sent packed to whoever takes that, and as it is to others', async () => {
    for (const accept of ['application/json', protobuf]) {
      const plain = await getBytes(admin.tlsOptions, '/openapi/v2', { accept });
      assert.equal(plain.headers['content-encoding'], undefined);
      for (const coding of ['gzip', 'br, GZIP;q=0.5', '*']) {
        const packed = await getBytes(admin.tlsOptions, '/openapi/v2', { accept, 'accept-encoding': coding });
        assert.equal(packed.headers['content-encoding'], 'gzip');
        assert.equal(packed.headers['vary'], 'Accept, Accept-Encoding');
        assert.ok(packed.bytes.length < plain.bytes.length / 4);
        assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
        assert.notEqual(packed.headers['etag'], plain.headers['etag'], 'other bytes, another tag');
      }
      for (const coding of ['gzip;q=0', 'gzip;q=0.00, br', 'identity']) {
        const refused = await getBytes(admin.tlsOptions, '/openapi/v2', {
          accept,
          'accept-encoding': coding,
        });
        assert.equal(refused.headers['content-encoding'], undefined, coding);
      }
    }
  });

  test('is not sent again to whoever has it in either form', async () => {
    const url = (await index()).get('api/v1') ?? assert.fail();
    for (const path of ['/openapi/v2', '/openapi/v3', url]) {
      for (const coding of ['identity', 'gzip']) {
        const { headers } = await getBytes(admin.tlsOptions, path, { 'accept-encoding': coding });
        const known = String(headers['etag']);
        for (const now of ['identity', 'gzip']) {
          const again = await getBytes(admin.tlsOptions, path, {
            'accept-encoding': now,
            'if-none-match': known,
          });
          assert.deepEqual([again.code, again.bytes.length], [304, 0], `${path} ${coding} ${now}`);
          assert.ok(again.headers['etag']);
        }
      }
    }
  });
});

test('what is documented is what is served: each path with the same methods', async () => {
  const { text } = await admin.request('GET', '/openapi/v2');
  const { paths }: { paths: Parameters<typeof operationsIn>[0] } = JSON.parse(text);
  const documented = Map.groupBy(
    operationsIn(paths)
      .keys()
      .map((key): [string, string] => {
        const [method = '', path = ''] = key.split(' ');
        return [path, method];
      }),
    ([path]) => path,
  );
  assert.ok(documented.size > 20);
  for (const [path, methods] of documented) {
    const example = path.replace('{namespace}', 'default').replace('{name}', 'x');
    // a method that no path serves is answered with those that it does
    const { reply } = await admin.refused('MethodNotAllowed', 'TRACE', example);
    const served = String(reply.headers.allow).split(', ').toSorted();
    assert.deepEqual(methods.map(([, method]) => method).toSorted(), served, path);
  }
});

test('every operation tells whom it concerns', async () => {
  const { text } = await admin.request('GET', '/openapi/v2');
  const { paths }: { paths: Parameters<typeof operationsIn>[0] } = JSON.parse(text);
  const incomplete = [...operationsIn(paths)].filter(([, operation]: [string, DocumentOperation]) => {
    const { kind, version } = operation['x-kubernetes-group-version-kind'];
    return !kind || !version || !operation['x-kubernetes-action'];
  });
  assert.deepEqual(incomplete, []);
});

test('what is made when it is first needed is made once, and again after it failed', async () => {
  let made = 0;
  const make = memoize(async () => {
    made++;
    if (made === 1) throw new Error('not yet');
    return made;
  });
  assert.equal(made, 0);
  await assert.rejects(make, /not yet/);
  assert.deepEqual(await Promise.all([make(), make(), make()]), [2, 2, 2]);
});
