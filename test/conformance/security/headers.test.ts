import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Asker } from './asker.ts';
import type { SecuredServer } from './secured-server.ts';
import { startSecuredServer } from './secured-server.ts';
import { whoAmI } from './tokens.ts';

/*
 * What a client, or somebody between it and the server, writes into a head: nothing of it makes a request another one
 * than it is, nor its sender somebody else.
 */

let server: SecuredServer;

before(async () => {
  server = await startSecuredServer();
});
after(() => server?.[Symbol.asyncDispose]());

const secret = '/api/v1/namespaces/default/secrets/canary';
const head = 'host: localhost\r\n';

/** The codes of the answers to bytes on a connection of their own, until it closes or an answer too many comes. */
async function codesOf(who: Asker, bytes: string, expected = 1): Promise<number[]> {
  using connection = await who.raw();
  connection.write(bytes);
  // a last request, so that the end of all answers is seen where the connection stays open
  connection.write(`GET /healthz HTTP/1.1\r\n${head}x-last: 1\r\nconnection: close\r\n\r\n`);
  const text = await connection.untilClosed();
  who.heard(JSON.stringify(bytes.slice(0, 200)), text);
  assert.ok(connection.codes.length >= expected, text);
  for (const code of connection.codes) assert.ok(code < 500, text);
  return connection.codes;
}

describe('headers of proxies', () => {
  const claims: [string, Record<string, string>][] = [
    ['a user', { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' }],
    ['a user with extra values', { 'X-Remote-User': 'admin', 'X-Remote-Extra-Scopes': 'all' }],
    ['a user of another proxy', { 'X-Forwarded-User': 'admin', 'X-Forwarded-Groups': 'system:masters' }],
    [
      'a user of a web server',
      { 'Remote-User': 'admin', 'X-Authenticated-User': 'admin', 'X-User': 'admin' },
    ],
    ['a certificate', { 'X-SSL-Client-Verify': 'SUCCESS', 'X-SSL-Client-S-DN': 'CN=admin,O=system:masters' }],
    ['a certificate, forwarded', { 'X-Forwarded-Client-Cert': 'Subject="CN=admin,O=system:masters"' }],
    [
      'an address within',
      { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1', Forwarded: 'for=127.0.0.1' },
    ],
    [
      'another host',
      { 'X-Forwarded-Host': 'localhost', 'X-Forwarded-Proto': 'http', 'X-Forwarded-Port': '1' },
    ],
    [
      'another path',
      { 'X-Original-URL': '/healthz', 'X-Rewrite-URL': '/healthz', 'X-Forwarded-Prefix': '/healthz' },
    ],
  ];
  for (const [what, headers] of claims) {
    test(`that claim ${what} change nothing`, async () => {
      await server.nobody.refused([401], 'GET', secret, { headers });
      await server.nobody.refused([401], 'POST', whoAmI, { headers, body: {} });
      await server.stranger.refused([403], 'GET', secret, { headers });
      const { text } = await server.stranger.ask('POST', whoAmI, { headers, body: {} });
      assert.deepEqual(JSON.parse(text).status.userInfo, {
        username: 'stranger',
        groups: ['system:authenticated'],
      });
    });
  }

  test('that name another path or method do not lead there', async () => {
    const others = { 'X-Original-URL': secret, 'X-Rewrite-URL': secret, 'X-HTTP-Method-Override': 'DELETE' };
    for (const who of [server.nobody, server.stranger]) {
      const { code, text } = await who.ask('GET', '/healthz', { headers: others });
      assert.deepEqual([code, text], [200, 'ok']);
    }
    const keep = '/api/v1/namespaces/default/configmaps/keep';
    await server.admin.must('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'keep' } });
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const headers = { [name]: 'DELETE' };
      assert.equal((await server.admin.request('GET', `${keep}?_method=DELETE`, { headers })).code, 200);
    }
    await server.admin.must('GET', keep);
  });
});

describe('the header Authorization', () => {
  const get = (...lines: string[]) =>
    `GET /api HTTP/1.1\r\n${head}${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

  test('counts when it is there once', async () => {
    const good = `Bearer ${server.listedToken}`;
    for (const line of [
      `Authorization: ${good}`,
      `AUTHORIZATION:${good}`,
      `authorization: bearer  ${server.listedToken}`,
    ]) {
      assert.equal((await codesOf(server.nobody, get(line)))[0], 200, line.slice(0, 24));
    }
  });

  test('that is there twice is a bad request: nobody could tell which one another has looked at', async () => {
    const good = `Authorization: Bearer ${server.listedToken}`;
    for (const lines of [
      [good, 'Authorization: Bearer wrong'],
      ['Authorization: Bearer wrong', good],
      [good, good],
      ['Authorization: Basic eDp5', good],
      ['Authorization:', good],
      [good, 'Authorization:'],
    ]) {
      assert.equal((await codesOf(server.nobody, get(...lines)))[0], 400);
    }
  });

  test('under another name is none', async () => {
    const value = `Bearer ${server.listedToken}`;
    for (const name of ['Authorization_', 'X-Authorization', 'Authorisation', 'Proxy-Authorization']) {
      assert.equal((await codesOf(server.nobody, get(`${name}: ${value}`)))[0], 401, name);
    }
    assert.equal((await codesOf(server.nobody, get(`Authorization : ${value}`)))[0], 400);
  });

  test('that is folded, or has other bytes in it, is none', async () => {
    for (const line of [
      `Authorization: Bearer\r\n ${server.listedToken}`,
      `Authorization: Bearer ${server.listedToken}\u0000`,
      `Authorization: Bearer \u0001${server.listedToken}`,
      `Authorization: Bearer ${server.listedToken}\u00a0`,
      `Authorization: B\u00ebarer ${server.listedToken}`,
    ]) {
      const [code = 0] = await codesOf(server.nobody, get(line));
      assert.ok(code === 400 || code === 401, `${code}`);
    }
  });
});

describe('a request within another', () => {
  const inner = `GET ${secret} HTTP/1.1\r\n${head}\r\n`;
  const rows: [string, string][] = [
    [
      'both lengths',
      `POST /healthz HTTP/1.1\r\n${head}content-length: ${inner.length}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'both lengths, the other way round',
      `POST /healthz HTTP/1.1\r\n${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'two lengths',
      `POST /healthz HTTP/1.1\r\n${head}content-length: 0\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`,
    ],
    [
      'two lengths in one',
      `POST /healthz HTTP/1.1\r\n${head}content-length: 0, ${inner.length}\r\n\r\n${inner}`,
    ],
    [
      'a length with a sign',
      `POST /healthz HTTP/1.1\r\n${head}content-length: +${inner.length}\r\n\r\n${inner}`,
    ],
    ['a length in hexadecimal', `POST /healthz HTTP/1.1\r\n${head}content-length: 0x10\r\n\r\n${inner}`],
    ['an unknown coding', `POST /healthz HTTP/1.1\r\n${head}transfer-encoding: xchunked\r\n\r\n${inner}`],
    [
      'a coding behind chunked',
      `POST /healthz HTTP/1.1\r\n${head}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a coding behind a blank',
      `POST /healthz HTTP/1.1\r\n${head}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a folded coding',
      `POST /healthz HTTP/1.1\r\n${head}transfer-encoding:\r\n chunked\r\ncontent-length: 0\r\n\r\n${inner}`,
    ],
    [
      'a chunk of another length',
      `POST /healthz HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a chunk of a length too long',
      `POST /healthz HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n${inner}`,
    ],
    ['a head that ends in line feeds', `GET /healthz HTTP/1.1\n${head}\n${inner}`],
    ['a head that ends in carriage returns', `GET /healthz HTTP/1.1\rhost: x\r\r${inner}`],
    ['a header with a line in it', `GET /healthz HTTP/1.1\r\n${head}x: a\rauthorization: b\r\n\r\n`],
    ['a header without a colon', `GET /healthz HTTP/1.1\r\n${head}x\r\n\r\n`],
    ['a header with a blank in front', `GET /healthz HTTP/1.1\r\n${head} x: y\r\n\r\n`],
    ['a header with a NUL', `GET /healthz HTTP/1.1\r\n${head}x: a\u0000b\r\n\r\n`],
    ['another protocol', `GET /healthz HTTP/3.0\r\n${head}\r\n`],
    ['no protocol', `GET ${secret}\r\n\r\n`],
    [
      'an upgrade',
      `GET /healthz HTTP/1.1\r\n${head}connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n`,
    ],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ];
  for (const [what, bytes] of rows) {
    test(`by ${what} is not answered with what it asks for`, async () => {
      for (const who of [server.nobody, server.stranger]) {
        const codes = await codesOf(who, bytes);
        assert.ok(
          codes.every((code) => [200, 400, 401, 403, 405, 431].includes(code)),
          `${codes}`,
        );
      }
    });
  }

  test('as the body of a GET is its body', async () => {
    const bytes = `GET /healthz HTTP/1.1\r\n${head}content-length: ${inner.length}\r\n\r\n${inner}`;
    assert.deepEqual(await codesOf(server.stranger, bytes, 2), [200, 200]);
  });

  test('after one that was refused is a request of its own', async () => {
    const body = `POST /api/v1/nodes HTTP/1.1\r\n${head}content-length: ${inner.length}\r\n\r\n${inner}`;
    const codes = await codesOf(server.nobody, body);
    assert.equal(codes[0], 401);
    assert.ok(codes.length <= 2, `the body of a refused request is no request: ${codes}`);
  });
});

describe('the header Host', () => {
  const get = (...hosts: string[]) =>
    `GET ${secret} HTTP/1.1\r\n${hosts.map((host) => `host: ${host}\r\n`).join('')}\r\n`;

  test('whatever it says, makes nobody somebody', async () => {
    for (const hosts of [
      ['localhost'],
      ['evil.example'],
      ['localhost', 'evil.example'],
      [''],
      ['localhost:99999'],
      ['[::1'],
      ['a b'],
      ['localhost/..'],
      ['user:password@localhost'],
      [`${'a'.repeat(5000)}.example`],
      ['\u00ff'],
    ]) {
      for (const [who, codes] of [
        [server.nobody, [400, 401]],
        [server.stranger, [400, 403]],
      ] as const) {
        const [code = 0] = await codesOf(who, get(...hosts));
        assert.ok(
          codes.some((each) => each === code),
          `${hosts}: ${code}`,
        );
      }
    }
    assert.equal((await codesOf(server.stranger, get()))[0], 400, 'without one it is no request');
  });

  test('does not come back in what is said of the server’s address', async () => {
    for (const path of ['/api', '/.well-known/openid-configuration', '/openapi/v3/api/v1?hash=x']) {
      using connection = await server.stranger.raw();
      const more = 'x-forwarded-host: evil.example\r\nconnection: close\r\n';
      connection.write(`GET ${path} HTTP/1.1\r\nhost: evil.example\r\n${more}\r\n`);
      const text = await connection.untilClosed();
      assert.match(text, /^HTTP\/1\.1 (200|301)/);
      assert.doesNotMatch(text, /evil\.example/, path);
    }
  });
});
