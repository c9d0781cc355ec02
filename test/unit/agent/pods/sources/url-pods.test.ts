import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { UrlPods } from '../../../../../src/agent/pods/sources/url-pods.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { manifest, memoryLog, namesOf } from '../support.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const send =
  (body: string, status = 200, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

/** A server that answers as `answer` says at the time, and remembers the requests. */
async function serverOf(first: Answer) {
  const requests: IncomingMessage[] = [];
  const state = { answer: first };
  const server = createServer((request, response) => {
    requests.push(request);
    state.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { port } = address;
  return {
    url: `http://127.0.0.1:${port}/pods?token=hush`,
    origin: `http://127.0.0.1:${port}`,
    requests,
    state,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function podsOf(url: string, headers: Record<string, string[]> = {}) {
  const { log, lines } = memoryLog();
  const source = new UrlPods({ url, headers, intervalMs: 5, nodeName: 'n1', log, clock: systemClock });
  const stop = new AbortController();
  const running = source.run(stop.signal, () => undefined);
  return {
    source,
    lines,
    names: () => namesOf(source.pods()),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

const podJson = (name: string, image = 'app:1') => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image }] },
});
const withUid = (name: string) => ({ ...podJson(name), metadata: { name, uid: '6f0a' } });
const listJson = (...items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items });

describe('the static pods of a URL', () => {
  test('one pod as YAML, with the marks of the reference', async () => {
    await using server = await serverOf(send(manifest('web')));
    await using made = await podsOf(server.url, { Authorization: ['Bearer abc'], 'X-Two': ['a', 'b'] });
    assert.equal(made.source.isComplete(), false);
    await waitFor('the pod', () => made.source.isComplete());
    const [pod] = made.source.pods();
    assert.deepEqual(made.names(), ['web-n1']);
    assert.equal(pod?.metadata?.annotations?.['kubernetes.io/config.source'], 'http');
    assert.equal(pod?.metadata?.uid, pod?.metadata?.annotations?.['kubernetes.io/config.hash']);
    assert.match(pod?.metadata?.annotations?.['kubernetes.io/config.seen'] ?? '', /^\d{4}-/);
    assert.equal(server.requests[0]?.headers.authorization, 'Bearer abc');
    assert.equal(server.requests[0]?.headers['x-two'], 'a, b');
    assert.equal(server.requests[0]?.url, '/pods?token=hush');
  });

  test('a list as JSON or YAML; neither order nor encoding make other pods', async () => {
    await using server = await serverOf(send(listJson(podJson('b'), podJson('a'))));
    await using made = await podsOf(server.url);
    await waitFor('two pods', () => made.source.isComplete());
    assert.deepEqual(made.names(), ['a-n1', 'b-n1']);
    const before = made.source.pods();
    const asked = server.requests.length;
    const yaml = ['apiVersion: v1', 'kind: List', 'items:'];
    for (const name of ['a', 'b'])
      yaml.push(`- spec: {containers: [{image: "app:1", name: main}]}`, `  metadata: {name: ${name}}`);
    server.state.answer = send(yaml.join('\n'));
    await waitFor('three more answers', () => server.requests.length > asked + 3);
    assert.equal(made.source.problem(), undefined);
    assert.equal(made.source.pods(), before);
  });

  test('a pod that changes is another, with its own time; one that is gone is gone', async () => {
    await using server = await serverOf(send(listJson(podJson('a'), podJson('b'))));
    await using made = await podsOf(server.url);
    await waitFor('two pods', () => made.names().length === 2);
    const uidOf = () => made.source.pods()[0]?.metadata?.uid;
    const before = uidOf();
    server.state.answer = send(listJson(podJson('a', 'app:2')));
    await waitFor('one pod', () => made.names().length === 1);
    assert.notEqual(uidOf(), before);
    server.state.answer = send(listJson());
    await waitFor('no pod', () => made.names().length === 0);
  });

  test('what goes wrong changes nothing, and is said once, without what is secret', async () => {
    await using server = await serverOf(send('', 503));
    await using made = await podsOf(server.url, { Authorization: ['Bearer hush'] });
    await waitFor('a problem', () => made.source.problem() !== undefined);
    assert.equal(made.source.isComplete(), false);
    assert.equal(
      made.source.problem(),
      `the static pods of ${server.origin}/pods cannot be fetched: ${server.origin}/pods answered 503`,
    );
    server.state.answer = send(listJson(podJson('a')));
    await waitFor('the pod', () => made.source.isComplete());
    assert.equal(made.source.problem(), undefined);
    const wrong: [Answer, RegExp][] = [
      [send(''), /cannot be used: the answer is empty$/],
      [send('apiVersion: v1\nkind: Node\n'), /kind: it must be a Pod, or a PodList, of v1$/],
      [send('{"apiVersion": "v1",'), /cannot be used: /],
      [send(listJson(podJson('a'), { metadata: { name: 'b' } })), /items\[1\]\.spec/],
      [
        send(listJson(podJson('a'), podJson('a'))),
        /items\[1\]\.metadata\.name: default\/a-n1 is there twice/,
      ],
      [send(listJson(withUid('a'), withUid('b'))), /items\[1\]\.metadata\.uid: 6f0a is there twice/],
      [send(listJson({ ...podJson('a'), extra: 1 })), /items\[0\].*unknown field/],
      [send('x'.repeat(10 * 1024 * 1024 + 1)), /the answer is longer than 10485760 bytes$/],
      [
        send(listJson(...Array.from({ length: 501 }, (_, index) => podJson(`p${index}`)))),
        /more than 500 pods/,
      ],
      [(request) => request.socket.destroy(), /cannot be fetched: /],
      [send('', 302, { location: 'ftp://127.0.0.1/' }), /redirects to what is no http or https URL/],
      [send('', 302, { location: '/pods' }), /redirects more than 10 times/],
    ];
    for (const [answer, expected] of wrong) {
      server.state.answer = answer;
      await waitFor(String(expected), () => expected.test(made.source.problem() ?? ''));
      assert.deepEqual(made.names(), ['a-n1']);
    }
    const said = made.lines.filter((line) => line.includes('answered 503'));
    assert.equal(said.length, 1);
    assert.doesNotMatch(made.lines.join(''), /hush/);
  });

  test('a redirect to another server gets no headers, and none after it either', async () => {
    await using server = await serverOf(send(''));
    await using other = await serverOf(send(''));
    const headersOf = ({ requests }: typeof server) => requests.map(({ headers }) => headers.authorization);
    server.state.answer = (request, response) => {
      if (request.url === '/back') return send(listJson(podJson('a')))(request, response);
      const location = request.url === '/same' ? `${other.origin}/away` : '/same';
      send('', 307, { location })(request, response);
    };
    other.state.answer = send('', 302, { location: `${server.origin}/back` });
    await using made = await podsOf(server.url, { Authorization: ['Bearer abc'] });
    await waitFor('the pod', () => made.source.isComplete());
    assert.deepEqual(headersOf(server).slice(0, 3), ['Bearer abc', 'Bearer abc', undefined]);
    assert.deepEqual(headersOf(other).slice(0, 1), [undefined]);
  });

  test('a server that does not answer is given up, and the end of the agent ends the wait', async () => {
    await using server = await serverOf(() => undefined);
    const made = await podsOf(server.url);
    await waitFor('a request', () => server.requests.length > 0);
    await made[Symbol.asyncDispose]();
    assert.equal(made.source.problem(), undefined);
  });
});
