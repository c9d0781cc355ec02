import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodCheckpointRequest } from '../../../../src/agent/checkpoint/index.ts';
import { CheckpointError, createCheckpointRoutes } from '../../../../src/agent/checkpoint/index.ts';
import { admin, ask, startServer } from '../server/running-server.ts';

const path = '/checkpoint/default/web';

/** A server that serves whole pods too. */
async function lab(fails?: CheckpointError, enabled = true) {
  const requests: PodCheckpointRequest[] = [];
  const checkpointer = {
    checkpoint: () => Promise.reject(new Error('not for one container')),
    async checkpointPod(request: PodCheckpointRequest) {
      requests.push(request);
      if (fails) throw fails;
      return { path: '/c/set.json', checkpoints: [] };
    },
  };
  const routes = createCheckpointRoutes({ checkpointer, enabled });
  const server = await startServer({ more: routes.filter((route) => !route.path.endsWith(':container')) });
  return { server, requests, [Symbol.asyncDispose]: () => server.end() };
}

describe('a checkpoint of a pod', () => {
  test('answers 200 with the archives and the manifest', async () => {
    await using at = await lab();
    const { code, headers, body } = await ask(at.server.port, 'POST', `${path}?timeout=7`, admin);
    assert.equal(code, 200);
    assert.match(headers['content-type'] ?? '', /^application\/json\b/);
    assert.equal(body, '{"items":[],"manifest":"/c/set.json"}');
    const [{ namespace, pod, timeoutMs, requester } = {}] = at.requests;
    assert.deepEqual([namespace, pod, timeoutMs, requester], ['default', 'web', 7000, 'admin']);
  });

  test('that fails is answered as one of a container', async () => {
    for (const [reason, code] of [
      ['noPod', 404],
      ['conflict', 409],
      ['failed', 500],
    ] as const) {
      await using at = await lab(new CheckpointError(reason, `told: ${reason}`));
      const answer = await ask(at.server.port, 'POST', path, admin);
      assert.deepEqual([answer.code, answer.body], [code, `told: ${reason}`]);
    }
  });

  test('is for who is known, and off with the gate', async () => {
    await using at = await lab();
    assert.equal((await ask(at.server.port, 'POST', path)).code, 401);
    assert.equal((await ask(at.server.port, 'GET', path, admin)).code, 405);
    assert.equal((await ask(at.server.port, 'POST', `${path}?timeout=x`, admin)).code, 400);
    await using off = await lab(undefined, false);
    const { code, body } = await ask(off.server.port, 'POST', path, admin);
    assert.deepEqual([code, body], [404, 'the feature gate ContainerCheckpoint is off']);
    assert.deepEqual([...at.requests, ...off.requests], []);
  });
});
