import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { after, describe, test } from 'node:test';
import type { Handler, HookTools } from '../../../../../src/agent/pods/worker/hooks.ts';
import { runHook } from '../../../../../src/agent/pods/worker/hooks.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const never = new AbortController().signal;
const servers: { close(): void }[] = [];
after(() => {
  for (const server of servers) server.close();
});

/** Answers as `answer` says; notes the requests. */
async function serve(answer: RequestListener): Promise<{ port: number; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: portOf(server.address()), requests };
}

function portOf(address: AddressInfo | string | null): number {
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

type Get = NonNullable<Handler['httpGet']>;

const noExec: HookTools = {
  calls: { execSync: () => assert.fail('nothing is to be executed') },
  clock: createManualClock(),
};

function get(httpGet: Get, tools: Partial<HookTools> = {}): Promise<void> {
  const ports = [{ name: 'named', containerPort: Number(httpGet.port) }];
  const place = { containerId: 'c', host: '127.0.0.1', container: { ports } };
  return runHook({ httpGet }, place, { ...noExec, ...tools }, 0, never);
}

describe('a hook that asks a URL', () => {
  for (const status of [200, 404, 500])
    test(`is done when it is answered, with ${status} too`, async () => {
      const { port, requests } = await serve((_request, response) => response.writeHead(status).end());
      await get({ port, path: '/stop?now=1' });
      assert.deepEqual(
        requests.map(({ method, url }) => [method, url]),
        [['GET', '/stop?now=1']],
      );
    });

  test('says who it is, unless it has headers of its own', async () => {
    const { port, requests } = await serve((_request, response) => response.end());
    await get({ port });
    await get({
      port,
      httpHeaders: [
        { name: 'User-Agent', value: 'me' },
        { name: 'Host', value: 'web.test' },
      ],
    });
    const [first, second] = requests.map(({ headers }) => headers);
    assert.equal(first?.['user-agent'], 'kube-lifecycle/1.36');
    assert.equal(first?.accept, '*/*');
    assert.equal(second?.['user-agent'], 'me');
    assert.equal(second?.host, 'web.test');
  });

  test('follows redirects on its host, and no others', async () => {
    const { port, requests } = await serve(({ url }, response) => {
      const location = url === '/' ? '/next' : 'http://localhost:1/elsewhere';
      response.writeHead(302, { location }).end();
    });
    await get({ port });
    assert.deepEqual(
      requests.map(({ url }) => url),
      ['/', '/next'],
    );
  });

  test('fails when redirects have no end', async () => {
    const { port } = await serve((_request, response) => response.writeHead(302, { location: '/' }).end());
    await assert.rejects(get({ port }), /stopped after 10 redirects/);
  });

  test('fails when nobody answers', async () => {
    const { port } = await serve((request) => request.destroy());
    await assert.rejects(get({ port }));
  });

  test('over HTTPS that is answered over HTTP asks again so, without what authorizes it', async () => {
    const { port, requests } = await serve((_request, response) => response.end());
    const hosts: string[] = [];
    const httpHeaders = [
      { name: 'Authorization', value: 'Bearer t' },
      { name: 'X-Other', value: 'o' },
    ];
    const onPlainAnswer = (host: string) => void hosts.push(host);
    await get({ port, scheme: 'HTTPS', httpHeaders }, { onPlainAnswer });
    assert.deepEqual(hosts, [`127.0.0.1:${port}`]);
    assert.deepEqual(
      requests.map(({ headers }) => [headers.authorization, headers['x-other']]),
      [[undefined, 'o']],
    );
  });

  test('over HTTPS that is answered with something else fails', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => undefined).destroy());
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const onPlainAnswer = () => assert.fail('it was no HTTP');
    await assert.rejects(get({ port: portOf(server.address()), scheme: 'HTTPS' }, { onPlainAnswer }));
  });

  test('of a name that no port has fails', () =>
    assert.rejects(get({ port: 'web' }), /has no port of that name/));
});
