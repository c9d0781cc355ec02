import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { after, describe, test } from 'node:test';
import { residentBytes, waitFor } from '../../../support/index.ts';
import { lease, leases, named, nodes, objectIn, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const head = 'host: x\r\n';

/** A request with a body, byte by byte as it goes out. */
const post = (name: string, more = '') => {
  const body = JSON.stringify(named(name));
  return `POST ${nodes} HTTP/1.1\r\n${head}content-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
};
const list = `GET ${nodes} HTTP/1.1\r\n${head}\r\n`;

describe('what is no proper request', () => {
  const wrong: [string, string][] = [
    [
      'both lengths',
      `POST ${nodes} HTTP/1.1\r\n${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `POST ${nodes} HTTP/1.1\r\n${head}content-length: 5\r\ncontent-length: 6\r\n\r\nabcdef`],
    ['a length below zero', `POST ${nodes} HTTP/1.1\r\n${head}content-length: -5\r\n\r\n`],
    ['an unknown coding', `POST ${nodes} HTTP/1.1\r\n${head}transfer-encoding: xchunked\r\n\r\n`],
    [
      'chunked twice',
      `POST ${nodes} HTTP/1.1\r\n${head}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a blank before the colon', `GET ${nodes} HTTP/1.1\r\nhost : x\r\n\r\n`],
    ['a folded header', `GET ${nodes} HTTP/1.1\r\nhost: x\r\n y\r\nx: \u0001\r\n\r\n`],
    ['a wrong chunk', `POST ${nodes} HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\nxyz\r\n`],
    ['no HTTP', 'hello\r\n\r\n'],
    ['a NUL in a header', `GET ${nodes} HTTP/1.1\r\nhost: x\u0000y\r\n\r\n`],
    ['another version', `GET ${nodes} HTTP/9.9\r\n${head}\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ];
  for (const [what, bytes] of wrong) {
    test(`${what} is 400 and the end of the connection, and does nothing`, async () => {
      using connection = await admin.raw();
      connection.write(bytes + post('smuggled'));
      const received = await connection.untilClosed();
      assert.match(received, /^HTTP\/1\.1 400/);
      await admin.refused('NotFound', 'GET', `${nodes}/smuggled`);
    });
  }

  test('a request without a host is 400', async () => {
    using connection = await admin.raw();
    assert.equal(await connection.exchange(`GET ${nodes} HTTP/1.1\r\n\r\n`), 400);
    await connection.untilClosed();
  });

  test('headers that are too many bytes are 431', async () => {
    using connection = await admin.raw();
    assert.equal(
      await connection.exchange(`GET ${nodes} HTTP/1.1\r\n${head}x: ${'y'.repeat(20_000)}\r\n\r\n`),
      431,
    );
    assert.match(await connection.untilClosed(), /"code":431/);
  });
});

describe('proper but unusual requests', () => {
  test('an absolute target, HTTP/1.0, and many headers of one name', async () => {
    for (const bytes of [
      `GET https://example.com${nodes} HTTP/1.1\r\n${head}\r\n`,
      `GET ${nodes} HTTP/1.0\r\n\r\n`,
      `GET ${nodes} HTTP/1.1\r\n${head}${'accept: application/json\r\n'.repeat(200)}\r\n`,
      `GET ${nodes} HTTP/1.1\r\n${head}connection: upgrade\r\nupgrade: h2c\r\n\r\n`,
      `GET ${nodes} HTTP/1.1\r\n${head}content-length: 7\r\n\r\nignored`,
    ]) {
      using connection = await admin.raw();
      assert.equal(await connection.exchange(bytes), 200, bytes.slice(0, 60));
    }
  });

  test('methods that are not served are 405, CONNECT ends the connection', async () => {
    for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'PATCH', 'SEARCH']) {
      using connection = await admin.raw();
      assert.equal(await connection.exchange(`${method} ${nodes} HTTP/1.1\r\n${head}\r\n`), 405, method);
      assert.match(connection.received, /\r\nallow: /i);
      assert.doesNotMatch(connection.received, /TRACE \//, 'nothing of the request comes back');
    }
    using connection = await admin.raw();
    connection.write(`CONNECT example.com:443 HTTP/1.1\r\n${head}\r\n`);
    await connection.untilClosed();
  });

  test('pipelined requests are answered in order', async () => {
    using connection = await admin.raw();
    const missing = `GET ${nodes}/none HTTP/1.1\r\n${head}\r\n`;
    connection.write(post('piped') + list + missing + list);
    await waitFor('four answers', () => connection.codes.length === 4);
    assert.deepEqual(connection.codes, [201, 200, 404, 200]);
  });

  test('a body in many pieces, chunked', async () => {
    using connection = await admin.raw();
    connection.write(`POST ${nodes} HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n`);
    for (const letter of JSON.stringify(named('chunks'))) connection.write(`1;ext=a\r\n${letter}\r\n`);
    connection.write('0\r\n\r\n');
    await connection.until(/HTTP\/1\.1 201/);
  });

  test('whoever may not, need not send the body first', async () => {
    for (const [who, code] of [
      [server.nobody, 401],
      [server.stranger, 403],
    ] as const) {
      using connection = await who.raw();
      const announced = `POST ${nodes} HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 3000000\r\n\r\n{`;
      assert.equal(await connection.exchange(announced), code);
    }
  });
});

describe('headers that are read', () => {
  test('a label, a field or a name may be called as what every object has', async () => {
    const text =
      '{"metadata":{"name":"constructor","labels":{"constructor":"x","hasOwnProperty":"y"},"annotations":{"toString":"z"}},"__proto__":{"metadata":{"name":"x"}},"constructor":1}';
    const reply = await admin.request('POST', nodes, { body: text });
    assert.equal(reply.code, 201, reply.text);
    const { metadata } = objectIn(reply);
    assert.equal(metadata.name, 'constructor');
    assert.deepEqual(Object.keys(metadata.labels ?? {}), ['constructor', 'hasOwnProperty']);
    const inner = '{"metadata":{"name":"proto","__proto__":{"uid":"x"},"labels":{"__proto__":"x"}}}';
    await admin.refused('Invalid', 'POST', nodes, { body: inner });
    assert.equal(Reflect.get({}, 'uid'), undefined);
    const strict = await admin.refused('BadRequest', 'POST', `${nodes}?fieldValidation=Strict`, {
      body: text,
    });
    assert.match(strict.message ?? '', /unknown field "__proto__"/);
  });
});

describe('large and deep bodies', () => {
  const bodies: Record<string, string> = {
    'nothing but brackets': '['.repeat(3_000_000),
    'objects in objects': `${'{"a":'.repeat(500_000)}1`,
    'deep but whole': `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    'a million fields': `{${Array.from({ length: 200_000 }, (_, index) => `"f${index}":1`).join()}}`,
    'one field again and again': `{${'"a":1,'.repeat(400_000)}"a":1}`,
    'a long number': `{"metadata":{"generation":${'9'.repeat(3_000_000)}}}`,
    'a million labels': `{"metadata":{"name":"x","labels":{${Array.from({ length: 200_000 }, (_, index) => `"l${index}":"v v"`).join()}}}}`,
    'a million finalizers': `{"metadata":{"name":"x","finalizers":[${'"a b",'.repeat(400_000)}"c"]}}`,
    'a million taints': `{"metadata":{"name":"x"},"spec":{"taints":[${'{},'.repeat(900_000)}{}]}}`,
    'a million equal taints': `{"metadata":{"name":"x"},"spec":{"taints":[${'{"key":"a","effect":"b"},'.repeat(100_000)}{}]}}`,
    'a long name': JSON.stringify(named('a-'.repeat(1_000_000))),
    'a long key': JSON.stringify(named('x', { labels: { [`${'a.'.repeat(1_000_000)}/b`]: 'x' } })),
    backslashes: `{"metadata":{"name":"${'\\\\'.repeat(1_000_000)}"}}`,
    'an open string': `{"${'\\"'.repeat(1_000_000)}`,
  };
  for (const [what, body] of Object.entries(bodies)) {
    test(`${what} is refused for little work with a short answer`, async () => {
      const before = process.cpuUsage();
      const reply = await admin.request('POST', nodes, { body });
      assert.ok([400, 422].includes(reply.code), `${reply.code} ${reply.text.slice(0, 200)}`);
      assert.ok(reply.text.length < 200_000, `${reply.text.length} characters`);
      const { user } = process.cpuUsage(before); // what grows with the square would take minutes
      assert.ok(user < 10_000_000, `${user / 1000} ms of a processor`);
    });
  }

  test('many at once stay within bounds', async () => {
    const body = bodies['a million fields'] ?? '';
    const before = await residentBytes(process.pid);
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => server.nobody.request('POST', nodes, { body }).catch(() => undefined)),
    );
    for (const reply of replies) assert.ok(reply === undefined || reply.code === 401);
    const grown = (await residentBytes(process.pid)) - before;
    assert.ok(grown < 300 * 1024 * 1024, `${grown} bytes`);
  });
});

describe('peers that behave badly', () => {
  test('slow senders, silent ones and those that go away hinder nobody', async () => {
    const connections = await Promise.all(Array.from({ length: 40 }, () => admin.raw()));
    for (const [index, connection] of connections.entries()) {
      const whole = post(`slow-${index}`);
      connection.write(whole.slice(0, Math.floor((whole.length * index) / 40)));
    }
    assert.equal((await admin.request('GET', nodes)).code, 200);
    for (const connection of connections) connection[Symbol.dispose]();
    const made = (await admin.list(nodes)).filter(({ metadata }) => metadata.name?.startsWith('slow-'));
    assert.deepEqual(made, [], 'half a request does nothing');
  });

  test('a body that comes slowly is taken all the same', async () => {
    using connection = await admin.raw();
    const whole = post('patient');
    for (let at = 0; at < whole.length; at += 10) {
      connection.write(whole.slice(at, at + 10));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await connection.until(/HTTP\/1\.1 201/);
  });

  test('a writer that goes away before the answer has written or not, and that is all', async () => {
    for (let round = 0; round < 50; round += 1) {
      const connection = await admin.raw();
      connection.write(post(`gone-${round}`));
      if (round % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      connection[Symbol.dispose]();
    }
    assert.equal((await admin.request('GET', nodes)).code, 200);
  });

  test('1,000 idle connections are borne, and others served beside them', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const socket = connectPlain({ port: server.port, host: '127.0.0.1' }, resolve);
        socket.on('error', reject);
        await promise;
        return socket;
      }),
    );
    const startedMs = performance.now();
    await admin.must('POST', leases('default'), lease('beside'));
    assert.ok(performance.now() - startedMs < 2000);
    for (const socket of sockets) socket.destroy();
  });

  test('what speaks no TLS is cut off', async () => {
    const socket = connectPlain({ port: server.port, host: '127.0.0.1' });
    const closed = Promise.withResolvers<void>();
    socket.on('error', () => undefined);
    socket.once('close', () => closed.resolve());
    socket.write(list);
    socket.resume();
    await closed.promise;
  });
});
