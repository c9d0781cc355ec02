import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { createControlPlaneCheck } from '../../../../../src/agent/doctor/checks/control-plane.ts';
import { createRuntimeChecks } from '../../../../../src/agent/doctor/checks/runtime.ts';
import { findFrozenContainers, queryRuntime } from '../../../../../src/agent/doctor/runtime-report.ts';
import { RuntimeService } from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { Status } from '../../../../../src/agent/runtime/gen/task_pb.js';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import type { FakeRuntime } from '../../runtime/fake-runtime.ts';
import { never, refusal, startFakeRuntime } from '../../runtime/fake-runtime.ts';
import { makeMachine } from '../machine.ts';

const { method } = RuntimeService;
const signal = new AbortController().signal;

describe('what the runtime answers', () => {
  let folder: TemporaryFolder;
  let runtime: FakeRuntime;
  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => folder[Symbol.asyncDispose]());
  beforeEach(async () => {
    await runtime?.[Symbol.asyncDispose]();
    runtime = await startFakeRuntime(join(folder.path, 'r.sock'));
    checkpointSays(status.NOT_FOUND, 'no container');
  });
  after(() => runtime[Symbol.asyncDispose]());

  const checkpointSays = (code: status, text: string) =>
    runtime.on(method.checkpointContainer, () => {
      throw refusal(code, text);
    });
  /** Short where an answer never comes. */
  const ask = (timeoutMs = 10_000) => ({ endpoint: runtime.endpoint, timeoutMs, signal });

  async function look(enabled = true, timeoutMs?: number) {
    await using machine = await makeMachine();
    const checks = createRuntimeChecks(() => queryRuntime(ask(timeoutMs)), enabled);
    const rows = await Promise.all(
      checks.map(async ({ id }) => [id, await machine.run(checks, id)] as const),
    );
    return Object.fromEntries(rows);
  }
  const verdicts = async (enabled?: boolean, timeoutMs?: number) =>
    Object.fromEntries(
      Object.entries(await look(enabled, timeoutMs)).map(([id, { verdict }]) => [id, verdict]),
    );

  test('all is well', async () => {
    assert.deepEqual(await verdicts(), {
      'runtime-socket': 'ok',
      'runtime-version': 'ok',
      'runtime-conditions': 'ok',
      'runtime-checkpoint': 'ok',
    });
  });

  test('the question about checkpoints names no container and carries no deadline', async () => {
    const asked: { id: string; deadline: Date | number }[] = [];
    runtime.on(method.checkpointContainer, ({ containerId }, { deadline }) => {
      asked.push({ id: containerId, deadline });
      throw refusal(status.NOT_FOUND, 'no container');
    });
    await queryRuntime(ask());
    assert.equal(asked.length, 1);
    assert.match(asked[0]?.id ?? '', /no-such-container/);
    assert.equal(asked[0]?.deadline, Number.POSITIVE_INFINITY);
  });

  test('one that is too old, or has no criu, or does not say', async () => {
    runtime.off(method.checkpointContainer);
    runtime.on(method.version, () => ({ runtimeName: 'containerd', runtimeVersion: '1.6.20~ds1' }));
    const old = await look();
    assert.deepEqual(
      [old['runtime-version']?.verdict, old['runtime-checkpoint']?.verdict],
      ['warning', 'failed'],
    );
    assert.match(old['runtime-version']?.advice ?? '', /containerd 2\.1/);
    const off = await verdicts(false);
    assert.deepEqual([off['runtime-version'], off['runtime-checkpoint']], ['ok', 'not-applicable']);
    checkpointSays(status.UNKNOWN, 'CRIU binary not found or too old (<31600)');
    assert.match((await look())['runtime-checkpoint']?.advice ?? '', /install criu 3\.16/);
    checkpointSays(status.UNKNOWN, 'checkpoint/restore support not available');
    assert.equal((await verdicts())['runtime-checkpoint'], 'failed');
    runtime.on(method.checkpointContainer, never);
    assert.equal((await verdicts(true, 1000))['runtime-checkpoint'], 'unknown');
  });

  test('another runtime says in words that it knows no such container', async () => {
    runtime.on(method.checkpointContainer, ({ containerId }) => {
      throw refusal(status.UNKNOWN, `failed to find container ${containerId}: container with ID not found`);
    });
    assert.equal((await verdicts())['runtime-checkpoint'], 'ok');
  });

  test('one without a network, and one that warns of itself', async () => {
    const says = async (type: string) => {
      runtime.on(method.status, () => ({
        status: { conditions: [{ type, status: false, reason: 'Because' }] },
      }));
      return (await verdicts())['runtime-conditions'];
    };
    assert.equal(await says('NetworkReady'), 'failed');
    assert.equal(await says('RuntimeReady'), 'failed');
    assert.equal(await says('ContainerdHasNoDeprecationWarnings'), 'warning');
  });

  test('one that hangs, and one that is gone', async () => {
    runtime.on(method.version, never);
    const hung = await look(true, 300);
    assert.equal(hung['runtime-socket']?.verdict, 'failed');
    assert.match(hung['runtime-socket']?.advice ?? '', /hangs/);
    assert.equal(hung['runtime-checkpoint']?.verdict, 'unknown');
    await runtime.kill();
    const gone = await look();
    assert.equal(gone['runtime-socket']?.verdict, 'failed');
    assert.match(gone['runtime-socket']?.advice ?? '', /start the runtime/);
  });

  test('none at all: it is installed first, and started where it is installed', async () => {
    const fault = new RuntimeError('unavailable', 'no container runtime found');
    const none = { ...(await queryRuntime(ask())), endpoint: undefined, fault };
    const adviceWith = async (files: Record<string, string>) => {
      await using machine = await makeMachine({ files });
      const { verdict, advice = '' } = await machine.run(
        createRuntimeChecks(async () => none, true),
        'runtime-socket',
      );
      assert.equal(verdict, 'failed');
      return advice;
    };
    assert.match(await adviceWith({}), /^install a container runtime/);
    assert.match(await adviceWith({ 'usr/bin/containerd': '' }), /^start the runtime/);
  });

  test('which containers are frozen', async () => {
    runtime.on(method.listContainers, () => ({
      containers: [
        {
          id: 'c1',
          metadata: { name: 'main' },
          labels: { 'io.kubernetes.pod.namespace': 'shop', 'io.kubernetes.pod.name': 'web' },
        },
      ],
    }));
    assert.deepEqual(await findFrozenContainers(ask()), { containers: [], running: 1, inspected: 1 });
    runtime.task = Status.PAUSED;
    assert.deepEqual((await findFrozenContainers(ask())).containers, [{ name: 'shop/web/main', id: 'c1' }]);
  });
});

describe('the control plane', () => {
  const common = {
    nodeName: 'a',
    rootDir: '/root',
    certDir: '/root/pki',
    groupSuffix: 'k8s.io',
    agent: async () => undefined,
  };

  test('none, one that was never started, a kubeconfig that is missing', async () => {
    await using machine = await makeMachine();
    const verdict = async (place: Parameters<typeof createControlPlaneCheck>[0]['place']) =>
      (await machine.run([createControlPlaneCheck({ ...common, place })], 'control-plane')).verdict;
    assert.equal(await verdict({ mode: 'standalone' }), 'not-applicable');
    assert.equal(await verdict({ mode: 'embedded' }), 'not-applicable');
    assert.equal(await verdict({ mode: 'remote', kubeconfig: '/none' }), 'failed');
  });
});
