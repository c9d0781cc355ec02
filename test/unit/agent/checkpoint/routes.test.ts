import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CheckpointFailure, CheckpointRequest } from '../../../../src/agent/checkpoint/index.ts';
import { CheckpointError } from '../../../../src/agent/checkpoint/index.ts';
import { waitFor } from '../../../support/index.ts';
import { admin, ask, connect, startServer } from '../server/running-server.ts';

const path = '/checkpoint/default/web/app';
const plain = 'text/plain; charset=utf-8';

/** A checkpoint that lasts until it is cancelled. */
function untilCancelled({ cancel, namespace, pod, container }: CheckpointRequest): Promise<never> {
  return new Promise((_resolve, reject) => {
    const message = `checkpointing of ${namespace}/${pod}/${container} failed (the client went away)`;
    cancel.addEventListener('abort', () => reject(new CheckpointError('cancelled', message)));
  });
}

describe('a checkpoint', () => {
  test('answers 200 with the path of the archive', async () => {
    await using server = await startServer();
    const answer = await ask(server.port, 'POST', path, admin);
    assert.equal(answer.code, 200);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/);
    assert.equal(answer.body, '{"items":["/checkpoints/a.tar"]}');
    const [request] = server.asked;
    const { namespace, pod, container, timeoutMs, requester } = request ?? {};
    assert.deepEqual(
      { namespace, pod, container, timeoutMs, requester },
      { namespace: 'default', pod: 'web', container: 'app', timeoutMs: 0, requester: 'admin' },
    );
  });

  test('may bring a small body, which is not read', async () => {
    await using server = await startServer();
    using client = await connect(server.port, admin);
    const request = (type: string, body: string) => {
      const length = `Content-Length: ${body.length}`;
      client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n${type}${length}\r\n\r\n${body}`);
      return client.answer();
    };
    assert.equal((await request('', '{}')).code, 200);
    assert.equal((await request('Content-Type: application/json\r\n', '{')).code, 200);
    assert.equal((await request('', 'x'.repeat(2000))).code, 413);
  });

  const failures: Readonly<Record<CheckpointFailure, number>> = {
    noPod: 404,
    noContainer: 404,
    notRunning: 500,
    unimplemented: 500,
    unavailable: 500,
    failed: 500,
    timeout: 500,
    cancelled: 500,
    storage: 500,
    busy: 500,
    noRoom: 500,
    conflict: 409,
    stopping: 500,
    stillFrozen: 500,
  };
  for (const [reason, code] of Object.entries(failures)) {
    test(`that ends with ${reason} is ${code} in plain text`, async () => {
      const isReason = (text: string): text is CheckpointFailure => Object.hasOwn(failures, text);
      assert.ok(isReason(reason));
      const checkpoint = () => Promise.reject(new CheckpointError(reason, `told: ${reason}`));
      await using server = await startServer({ checkpoint });
      const { code: answered, headers, body } = await ask(server.port, 'POST', path, admin);
      assert.deepEqual([answered, headers['content-type'], body], [code, plain, `told: ${reason}`]);
    });
  }

  test('that fails unforeseen is logged whole and answered generically', async () => {
    await using server = await startServer({ checkpoint: () => Promise.reject(new Error('secret detail')) });
    const answer = await ask(server.port, 'POST', path, admin);
    assert.equal(answer.code, 500);
    assert.doesNotMatch(answer.body, /secret/);
    assert.match(server.log(), /secret detail/);
  });

  test('is 404 with the gate off, whatever the method', async () => {
    await using server = await startServer({ checkpointEnabled: false });
    for (const method of ['POST', 'GET']) {
      const answer = await ask(server.port, method, path, admin);
      assert.deepEqual([answer.code, answer.body], [404, 'the feature gate ContainerCheckpoint is off']);
    }
    assert.equal((await ask(server.port, 'POST', path)).code, 401);
    assert.equal(server.asked.length, 0);
  });

  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    test(`with ${method} is 405`, async () => {
      await using server = await startServer();
      using client = await connect(server.port, admin);
      client.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      let text = '';
      client.socket.on('data', (chunk) => {
        text += chunk;
      });
      await client.closed;
      assert.match(text, /^HTTP\/1\.1 405 /);
      assert.match(text, /^allow: POST\r$/m);
    });
  }
});

describe('the timeout', () => {
  for (const [query, timeoutMs] of [
    ['', 0],
    ['?timeout=0', 0],
    ['?timeout=90', 90_000],
    ['?timeout=007', 7000],
    ['?timeout=100000', 100_000_000],
    ['?timeout=9223372036854775807', 2 ** 63 * 1000],
    ['?timeout=x&timeout=5', 5000],
    ['?other=1', 0],
  ] as const) {
    test(`of ${query || 'no query'} is ${timeoutMs} ms`, async () => {
      await using server = await startServer();
      assert.equal((await ask(server.port, 'POST', path + query, admin)).code, 200);
      assert.equal(server.asked[0]?.timeoutMs, timeoutMs);
    });
  }

  for (const text of ['-1', '1.5', '1e3', '5s', 'NaN', '', '%201', '٣', '99999999999999999999', '0x10']) {
    test(`of ${JSON.stringify(text)} is 400`, async () => {
      await using server = await startServer();
      const answer = await ask(server.port, 'POST', `${path}?timeout=${encodeURI(text)}`, admin);
      assert.equal(answer.code, 400);
      assert.match(answer.body, /^timeout must be a whole number of seconds, 0 or more, not "/);
      assert.equal(server.asked.length, 0);
    });
  }
});

describe('names in the path', () => {
  for (const [written, names] of [
    ['a%2Fb/web/app', ['a/b', 'web', 'app']],
    ['%2e%2e/%2e/app', ['..', '.', 'app']],
    ['a%252Fb/web/app', ['a%2Fb', 'web', 'app']],
    ['a%00/w%0Aeb/app', ['a\0', 'w\neb', 'app']],
    ['//', ['', '', '']],
    [`n/${'p'.repeat(253)}/c`, ['n', 'p'.repeat(253), 'c']],
  ] as const) {
    test(`${JSON.stringify(written.slice(0, 30))} are decoded once, for the checkpointer to judge`, async () => {
      await using server = await startServer();
      await ask(server.port, 'POST', `/checkpoint/${written}`, admin);
      const { namespace, pod, container } = server.asked[0] ?? {};
      assert.deepEqual([namespace, pod, container], names);
    });
  }

  for (const written of [
    '/checkpoint/default/web',
    '/checkpoint/default/web/app/',
    '/checkpoint/default/web/app/more',
    '/checkpoint/../etc/passwd/x/y',
    '/Checkpoint/default/web/app',
  ]) {
    test(`${written.slice(0, 40)} is no checkpoint: 404`, async () => {
      await using server = await startServer();
      const answer = await ask(server.port, 'POST', written, admin);
      assert.deepEqual([answer.code, answer.body, server.asked.length], [404, '404 page not found', 0]);
    });
  }

  test('that cannot be decoded, or are longer than any, are 400, and 401 for strangers', async () => {
    await using server = await startServer();
    const answer = await ask(server.port, 'POST', '/checkpoint/%zz/web/app', admin);
    assert.deepEqual([answer.code, answer.body], [400, 'the path is not valid']);
    const long = await ask(server.port, 'POST', `/checkpoint/n/${'p'.repeat(2000)}/c`, admin);
    assert.deepEqual([long.code, long.body], [400, 'the path is not valid']);
    assert.equal((await ask(server.port, 'POST', '/checkpoint/%zz/web/app')).code, 401);
  });
});

describe('a checkpoint under way', () => {
  test('is cancelled when its client goes away', async () => {
    await using server = await startServer({ checkpoint: untilCancelled });
    using client = await connect(server.port, admin);
    client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const cancel = await waitFor('the checkpoint', () => server.asked[0]?.cancel);
    assert.equal(cancel.aborted, false);
    client.socket.destroy();
    await waitFor('the cancel', () => cancel.aborted);
  });

  test('is not cancelled by another connection’s end', async () => {
    await using server = await startServer({ checkpoint: untilCancelled });
    using client = await connect(server.port, admin);
    client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const cancel = await waitFor('the checkpoint', () => server.asked[0]?.cancel);
    assert.equal((await ask(server.port, 'GET', '/healthz', admin)).code, 200);
    assert.equal(cancel.aborted, false);
  });

  test('is cancelled when the agent stops, and says so', async () => {
    await using server = await startServer({ checkpoint: untilCancelled });
    using client = await connect(server.port, admin);
    client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await waitFor('the checkpoint', () => server.asked[0]);
    await server.end();
    const { code, body } = await client.answer();
    const message = 'checkpointing of default/web/app failed (the agent is being stopped)';
    assert.deepEqual([code, body], [500, message]);
    await client.closed;
  });

  test('that does not end does not keep the agent from stopping', async () => {
    await using server = await startServer({ checkpoint: () => new Promise(() => undefined) });
    using client = await connect(server.port, admin);
    client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await waitFor('the checkpoint', () => server.asked[0]);
    const beginMs = performance.now();
    await server.end();
    await client.closed;
    assert.ok(performance.now() - beginMs < 5000);
  });
});
