import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { chooseContainer, chooseSandbox, selectRunning } from '../../../../src/agent/runtime/find.ts';
import type { Container, PodSandbox } from '../../../../src/agent/runtime/gen/cri_pb.js';
import {
  ContainerSchema,
  ContainerState,
  PodSandboxSchema,
  PodSandboxState,
} from '../../../../src/agent/runtime/gen/cri_pb.js';

const { SANDBOX_READY, SANDBOX_NOTREADY } = PodSandboxState;
const { CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;

function sandbox(id: string, createdAt: bigint, state: PodSandboxState): PodSandbox {
  return create(PodSandboxSchema, { id, createdAt, state, metadata: { namespace: 'shop', name: 'web' } });
}

function labelled(id: string, namespace: string, name: string): PodSandbox {
  const labels = { 'io.kubernetes.pod.namespace': namespace, 'io.kubernetes.pod.name': name };
  return create(PodSandboxSchema, { id, labels, metadata: { namespace: 'other', name: 'other' } });
}

function container(id: string, name: string, createdAt: bigint, state: ContainerState): Container {
  return create(ContainerSchema, { id, podSandboxId: 's', createdAt, state, metadata: { name } });
}

describe('the sandbox of a pod', () => {
  test('is the newest that is ready', () => {
    const all = [
      sandbox('old', 1n, SANDBOX_READY),
      sandbox('new', 2n, SANDBOX_READY),
      sandbox('ended', 3n, SANDBOX_NOTREADY),
    ];
    assert.equal(chooseSandbox(all, 'shop', 'web')?.id, 'new');
    assert.equal(chooseSandbox(all.toReversed(), 'shop', 'web')?.id, 'new');
  });

  test('is the newest of all when none is ready', () => {
    const all = [sandbox('old', 1n, SANDBOX_NOTREADY), sandbox('new', 2n, SANDBOX_NOTREADY)];
    assert.equal(chooseSandbox(all, 'shop', 'web')?.id, 'new');
  });

  test('goes by metadata first and by labels second', () => {
    const byLabel = labelled('labelled', 'shop', 'web');
    assert.equal(chooseSandbox([byLabel], 'shop', 'web')?.id, 'labelled');
    const byName = sandbox('named', 1n, SANDBOX_NOTREADY);
    assert.equal(chooseSandbox([byLabel, byName], 'shop', 'web')?.id, 'named');
  });

  test('needs both names', () => {
    const all = [sandbox('s', 1n, SANDBOX_READY), labelled('l', 'shop', 'web')];
    assert.equal(chooseSandbox(all, 'shop', 'db'), undefined);
    assert.equal(chooseSandbox(all, 'default', 'web'), undefined);
    assert.equal(chooseSandbox([], 'shop', 'web'), undefined);
  });
});

describe('the container of a sandbox', () => {
  test('is a running one before an ended one that is newer', () => {
    const all = [container('a', 'main', 1n, CONTAINER_RUNNING), container('b', 'main', 2n, CONTAINER_EXITED)];
    assert.equal(chooseContainer(all, 's', 'main')?.id, 'a');
  });

  test('is the newest of its restarts', () => {
    const all = [container('a', 'main', 1n, CONTAINER_EXITED), container('b', 'main', 2n, CONTAINER_EXITED)];
    assert.equal(chooseContainer(all, 's', 'main')?.id, 'b');
  });

  test('is found by its label where the metadata differ', () => {
    const labels = { 'io.kubernetes.container.name': 'main' };
    const only = create(ContainerSchema, { id: 'c', podSandboxId: 's', labels, metadata: { name: 'k8s_x' } });
    assert.equal(chooseContainer([only], 's', 'main')?.id, 'c');
  });

  test('is of that sandbox, also when the runtime ignores the filter', () => {
    const all = [container('a', 'main', 1n, CONTAINER_RUNNING)];
    assert.equal(chooseContainer(all, 'another', 'main'), undefined);
    assert.equal(chooseContainer(all, 's', 'sidecar'), undefined);
  });
});

describe('what runs in a pod', () => {
  const { CONTAINER_CREATED, CONTAINER_UNKNOWN } = ContainerState;
  const names = (all: Container[]) =>
    selectRunning(sandbox('s', 1n, SANDBOX_READY), all).map(({ name, id }) => `${name} ${id}`);

  test('is told in the order of its making, whatever the order of the answer', () => {
    const all = [
      container('c1', 'init', 1n, CONTAINER_RUNNING),
      container('c2', 'web', 2n, CONTAINER_UNKNOWN),
      container('c3', 'debug', 3n, CONTAINER_RUNNING),
    ];
    assert.deepEqual(names(all), ['init c1', 'web c2', 'debug c3']);
    assert.deepEqual(names(all.toReversed()), ['init c1', 'web c2', 'debug c3']);
  });

  test('is neither what has ended or not begun, nor what is of another sandbox', () => {
    const other = create(ContainerSchema, {
      ...container('c4', 'x', 4n, CONTAINER_RUNNING),
      podSandboxId: 't',
    });
    const all = [
      container('c1', 'web', 1n, CONTAINER_EXITED),
      container('c2', 'web', 2n, CONTAINER_RUNNING),
      container('c3', 'log', 3n, CONTAINER_CREATED),
    ];
    assert.deepEqual(names([...all, other]), ['web c2']);
  });

  test('counts once by its name: the newer one', () => {
    const all = [
      container('c2', 'web', 2n, CONTAINER_RUNNING),
      container('c1', 'web', 1n, CONTAINER_RUNNING),
    ];
    assert.deepEqual(names(all), ['web c2']);
  });
});
