import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import type { PodCommands } from '../../../../src/agent/probes/commands.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { closedPort, noExec, probeAt, serveBytes, serveHttp } from './servers.ts';

const exited = (exitCode: number, stdout = '', stderr = '') => ({
  execSync: async () => ({ exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) }),
});

describe('a probe over HTTP', () => {
  for (const [status, result] of [
    [200, 'success'],
    [299, 'success'],
    [404, 'failure'],
    [503, 'failure'],
  ] as const)
    test(`that is answered with ${status} is a ${result}`, async () => {
      const port = await serveHttp((_request, response) => response.writeHead(status).end('secret'));
      const outcome = await probeAt({ httpGet: { port: 'web', path: '/' } }, { port });
      assert.deepEqual(
        outcome,
        result === 'success'
          ? { result }
          : { result, output: `HTTP probe failed with statuscode: ${status}` },
      );
    });

  test('says who it is, and sends the headers, path and query of the pod', async () => {
    const requests: IncomingMessage[] = [];
    const port = await serveHttp((request, response) => {
      requests.push(request);
      response.end();
    });
    await probeAt({ httpGet: { port, path: '/a b?x=1#none' } });
    const httpHeaders = [
      { name: 'Host', value: 'web.test' },
      { name: 'Accept', value: '' },
      { name: 'X-Twice', value: '1' },
      { name: 'X-Twice', value: '2' },
    ];
    await probeAt({ httpGet: { port, path: 'relative', httpHeaders } });
    const [first, second] = requests;
    assert.deepEqual([first?.url, second?.url], ['/a%20b?x=1', '/relative']);
    assert.partialDeepStrictEqual(first?.headers, {
      'user-agent': 'kube-probe/1.36',
      accept: '*/*',
      host: `127.0.0.1:${port}`,
      connection: 'close',
    });
    assert.equal(first?.headers['accept-encoding'], undefined);
    assert.partialDeepStrictEqual(second?.headers, { host: 'web.test', 'x-twice': '1, 2' });
    assert.equal(second?.headers.accept, undefined);
  });

  test('follows redirects on its host; one to another is a success with a warning', async () => {
    const port = await serveHttp(({ url }, response) => {
      const location = { '/': '/2', '/2': 'http://localhost:1/' }[url ?? ''] ?? '';
      response.writeHead(302, { location }).end('elsewhere');
    });
    const warning = 'Probe terminated redirects, Response body: elsewhere';
    assert.deepEqual(await probeAt({ httpGet: { port } }), { result: 'success', warning });
  });

  test('fails after ten redirects', async () => {
    let asked = 0;
    const port = await serveHttp((_request, response) => {
      asked += 1;
      response.writeHead(307, { location: `/${asked}` }).end();
    });
    const outcome = await probeAt({ httpGet: { port } });
    assert.partialDeepStrictEqual(outcome, { result: 'failure' });
    assert.match('output' in outcome ? outcome.output : '', /: stopped after 10 redirects$/);
    assert.equal(asked, 10);
  });

  test('fails in the words of the reference where nobody listens', async () => {
    const port = await closedPort();
    assert.deepEqual(await probeAt({ httpGet: { port, path: '/healthz' } }), {
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test('fails when no answer comes in its time', async () => {
    const port = await serveBytes(() => undefined);
    assert.deepEqual(await probeAt({ httpGet: { port }, timeoutSeconds: 1 }), {
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
  });

  test('over HTTPS that is answered without fails, and always says the same', async () => {
    const port = await serveHttp((_request, response) => response.end());
    assert.deepEqual(await probeAt({ httpGet: { port, scheme: 'HTTPS' } }), {
      result: 'failure',
      output: `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
    });
  });

  test('to a port of no such name, or a pod without address, cannot be run', async () => {
    const outcome = await probeAt({ httpGet: { port: 'other' } });
    assert.match('why' in outcome ? outcome.why : '', /^strconv.Atoi: parsing "other": invalid syntax/);
    assert.deepEqual(await probeAt({ httpGet: { port: 70_000 } }), {
      result: 'unknown',
      why: 'invalid port number: 70000',
    });
  });
});

describe('a probe by a connection', () => {
  test('succeeds when it is made', async () => {
    const port = await serveBytes((socket) => socket.resume());
    assert.deepEqual(await probeAt({ tcpSocket: { port: 'web' } }, { port }), { result: 'success' });
  });

  test('fails when nobody listens', async () => {
    const port = await closedPort();
    const output = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
    assert.deepEqual(await probeAt({ tcpSocket: { port } }), { result: 'failure', output });
  });
});

describe('a probe by a command', () => {
  test('succeeds with exit code 0, and fails with any other and what was written', async () => {
    assert.deepEqual(await probeAt({ exec: { command: ['a'] } }, { tools: { calls: exited(0) } }), {
      result: 'success',
    });
    const long = 'x'.repeat(20_000);
    const outcome = await probeAt(
      { exec: { command: ['a'] } },
      { tools: { calls: exited(1, 'why ', long) } },
    );
    assert.deepEqual(outcome, { result: 'failure', output: `why ${long}`.slice(0, 10_240) });
  });

  test('that the runtime ended at its time fails', async () => {
    const calls = {
      execSync: () => Promise.reject(new RuntimeError('timeout', 'timeout 2s exceeded')),
    };
    const outcome = await probeAt(
      { exec: { command: ['sleep', '9'] }, timeoutSeconds: 2 },
      { tools: { calls } },
    );
    assert.deepEqual(outcome, {
      result: 'failure',
      output: 'command timed out: "sleep 9" timed out after 2s',
    });
  });

  test('that cannot be started is tried three times, and says nothing of the container', async () => {
    let tries = 0;
    const calls = {
      async execSync() {
        tries += 1;
        throw new RuntimeError('failed', 'no such file');
      },
    };
    const outcome = await probeAt({ exec: { command: ['none'] } }, { tools: { calls } });
    assert.deepEqual([outcome, tries], [{ result: 'unknown', why: 'no such file' }, 3]);
  });

  test('that the runtime never answers for is given up a little after its time', async () => {
    const clock = createManualClock();
    let given: AbortSignal | undefined;
    const execSync = (_id: string, _command: readonly string[], _timeout: number, cancel?: AbortSignal) => {
      given = cancel;
      return new Promise<never>((_resolve, reject) =>
        cancel?.addEventListener('abort', () => reject(new RuntimeError('cancelled', 'given up'))),
      );
    };
    const probing = probeAt(
      { exec: { command: ['hang'] }, timeoutSeconds: 3 },
      { tools: { calls: { execSync }, clock } },
    );
    await clock.advance(4900);
    assert.equal(given?.aborted, false);
    await clock.advance(200);
    assert.partialDeepStrictEqual(await probing, { result: 'failure' });
  });

  test('may have to wait until it may start, which is no part of its time', async () => {
    const clock = createManualClock();
    const mayStart = Promise.withResolvers<void>();
    const commands: PodCommands = { run: (run) => mayStart.promise.then(run) };
    const probing = probeAt({ exec: { command: ['a'] } }, { tools: { calls: exited(0), commands, clock } });
    await clock.advance(60_000);
    mayStart.resolve();
    assert.deepEqual(await probing, { result: 'success' });
  });

  test('has variables of the container, as far as they need not be asked for', async () => {
    const commands: (readonly string[])[] = [];
    const calls = {
      async execSync(_id: string, command: readonly string[]) {
        commands.push(command);
        return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      },
    };
    const { runProbe } = await import('../../../../src/agent/probes/run-probe.ts');
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const place = { containerId: 'c', host: undefined, container: { env } };
    const probe = { exec: { command: ['$(A)', '$(B)', '$(C)', '$$(A)'] } };
    await runProbe(probe, place, { ...noExec, calls }, new AbortController().signal);
    assert.deepEqual(commands, [['1', '', '$(C)', '$(A)']]);
  });
});

test('a process that was stopped reads what was answered meanwhile before a probe is late', async () => {
  const clock = createManualClock();
  let answer: () => void = () => undefined;
  const asked = Promise.withResolvers<void>();
  const port = await serveHttp((_request, response) => {
    answer = () => void response.end();
    asked.resolve();
  });
  const probing = probeAt({ httpGet: { port }, timeoutSeconds: 1 }, { tools: { clock } });
  await asked.promise;
  await clock.stall(60_000);
  answer();
  assert.deepEqual(await probing, { result: 'success' });
});
