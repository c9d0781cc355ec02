import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:http2';
import { after, before, describe, test } from 'node:test';
import type { Pair } from '../../../src/base/x509/index.ts';
import type { Route } from './routes.ts';
import { everyPath, forEach, openPaths } from './routes.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';

/* The same over HTTP/2, where heads are made and read in another way. */

const secret = '/api/v1/namespaces/default/secrets/canary';

let server: SecuredServer;
let nobody: ClientHttp2Session;
let stranger: ClientHttp2Session;
let routes: Route[];

function open(pair?: Pair): ClientHttp2Session {
  return connect(`https://127.0.0.1:${server.port}`, { ca: server.ca, ...pair });
}

before(async () => {
  server = await startSecuredServer('--http2');
  nobody = open();
  stranger = open(await server.issue({ commonName: 'stranger' }));
  const paths = await everyPath(server.admin);
  routes = paths.flatMap((path) => ['GET', 'POST', 'DELETE'].map((method) => ({ method, path })));
});
after(async () => {
  for (const session of [nobody, stranger]) session?.close();
  await server?.[Symbol.asyncDispose]();
});

/** The code of the answer; 0 where the stream or the connection was ended instead. */
async function codeOf(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<number> {
  const stream = session.request(headers, { endStream: true });
  let [code, text] = [0, ''];
  stream.on('response', (answer) => {
    code = answer[':status'] ?? 0;
  });
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  stream.on('error', () => undefined);
  await once(stream, 'close').catch(() => undefined);
  server.secrets.tell(`the answer to ${headers[':path']}`, text);
  assert.ok(code < 500, `${headers[':method']} ${headers[':path']}: ${code} ${text}`);
  return code;
}

describe('over HTTP/2', () => {
  test('without a credential nothing but health and version is answered', async () => {
    await forEach(routes, async ({ method, path }) => {
      const code = await codeOf(nobody, { ':method': method, ':path': path });
      const expected = openPaths.includes(path) && method === 'GET' ? 200 : 401;
      assert.equal(code, expected, `${method} ${path}`);
    });
  });

  test('a wrong token and a wrong certificate are none', async () => {
    const path = { ':path': secret };
    assert.equal(await codeOf(nobody, { ...path, authorization: 'Bearer wrong' }), 401);
    const late = open(await server.issue({ commonName: 'late', now: Date.now() - 2 * 3600_000 }));
    assert.equal(await codeOf(late, path), 401);
    late.close();
    assert.equal(await codeOf(stranger, path), 403);
  });

  test('impersonation without the right, or that makes no sense, is refused', async () => {
    const rows: [OutgoingHttpHeaders, number][] = [
      [{ 'impersonate-user': 'admin' }, 403],
      [{ 'impersonate-user': 'stranger', 'impersonate-group': 'system:masters' }, 403],
      [{ 'impersonate-user': ['', 'admin'] }, 400],
      [{ 'impersonate-group': 'system:masters' }, 400],
    ];
    for (const [headers, code] of rows) {
      assert.equal(await codeOf(stranger, { ':path': secret, ...headers }), code, JSON.stringify(headers));
    }
  });

  test('a path that is disguised leads nowhere', async () => {
    for (const path of [
      `/${secret}`,
      `https://x${secret}`,
      '//metrics',
      '/healthz/../metrics',
      '/%6detrics',
      '*',
      'metrics',
      `${secret}#`,
      `/healthz\\..${secret}`,
      `${secret};x`,
      `${secret}%00`,
    ]) {
      for (const session of [nobody, stranger]) {
        const code = await codeOf(session, { ':path': path });
        assert.ok([0, 400, 401, 403, 404].includes(code), `${path}: ${code}`);
      }
    }
  });

  test('headers that name another host, path or user change nothing', async () => {
    for (const headers of [
      { ':authority': 'evil.example' },
      { ':authority': 'localhost', host: 'evil.example' },
      { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
      { 'x-original-url': '/healthz', 'x-http-method-override': 'GET' },
    ]) {
      assert.equal(await codeOf(nobody, { ':path': secret, ...headers }), 401);
      assert.equal(await codeOf(stranger, { ':path': secret, ...headers }), 403);
    }
  });
});
