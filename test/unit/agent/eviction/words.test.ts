import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MetThreshold } from '../../../../src/agent/eviction/index.ts';
import { formatAmount } from '../../../../src/agent/eviction/index.ts';
import { describeEviction } from '../../../../src/agent/eviction/words.ts';
import { toShare } from '../../../../src/agent/node/index.ts';
import { disk, mi, podOf, useOf } from './samples.ts';

const memory: MetThreshold = {
  ...{ signal: 'memory.available', isHard: true, threshold: { amount: 100 * mi, text: '100Mi' } },
  ...{ capacity: 1024 * mi, available: 50 * mi },
};

describe('what an evicted pod says, word for word', () => {
  test('for memory: the threshold, and each container above its request', () => {
    const pod = podOf('web', {
      more: {
        containers: [
          { name: 'main', resources: { requests: { memory: '0.5Gi' } } },
          { name: 'small', resources: { requests: { memory: '64Mi' } } },
        ],
        initContainers: [{ name: 'side', restartPolicy: 'Always' }],
      },
    });
    const containers = [
      { name: 'main', memoryBytes: 600 * mi },
      { name: 'small', memoryBytes: 64 * mi },
      { name: 'side', memoryBytes: 12_345 },
    ];
    assert.deepEqual(describeEviction({ pod, use: useOf({ containers }) }, memory), {
      message:
        'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container main was using 600Mi, request is 512Mi, has larger consumption of memory. Container side was using 12345, request is 0, has larger consumption of memory. ',
      annotations: {
        offending_containers: 'main,side',
        offending_containers_usage: '600Mi,12345',
        starved_resource: 'memory',
      },
    });
  });

  test('for the disk: layer and logs together, where both are known', () => {
    const met: MetThreshold = {
      ...{ signal: 'nodefs.available', isHard: true, threshold: toShare(10) },
      ...{ capacity: 1000 * mi, available: 7 * mi },
    };
    const pod = podOf('web', { requests: { 'ephemeral-storage': '1Mi' } });
    const said = (main: object) => describeEviction({ pod, use: useOf({ main }) }, met).message;
    const low =
      'The node was low on resource: ephemeral-storage. Threshold quantity: 104857601, available: 7Mi. ';
    assert.equal(
      said({ layer: disk(2 * mi), logs: disk(1 * mi) }),
      `${low}Container main was using 3Mi, request is 1Mi, has larger consumption of ephemeral-storage. `,
    );
    assert.equal(said({ layer: disk(2 * mi) }), low);
  });

  test('for inodes and process numbers no container is named, and counts have decimal suffixes', () => {
    const inodes: MetThreshold = {
      ...{ signal: 'imagefs.inodesFree', isHard: true, threshold: { amount: 5000, text: '5k' } },
      ...{ capacity: 10_000, available: 4000 },
    };
    const use = useOf({ main: { layer: disk(0, 9), logs: disk(0, 9) } });
    assert.deepEqual(describeEviction({ pod: podOf('web'), use }, inodes), {
      message: 'The node was low on resource: inodes. Threshold quantity: 5k, available: 4k. ',
      annotations: { offending_containers: '', offending_containers_usage: '', starved_resource: 'inodes' },
    });
    const pids: MetThreshold = { ...inodes, signal: 'pid.available', available: 3999 };
    const { message } = describeEviction({ pod: podOf('web'), use }, pids);
    assert.equal(message, 'The node was low on resource: pids. Threshold quantity: 5k, available: 3999. ');
  });

  test('of a pod without figures no more than the threshold', () => {
    assert.deepEqual(describeEviction({ pod: podOf('web'), use: undefined }, memory), {
      message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ',
      annotations: {},
    });
  });

  test('of one that requests memory as a whole, that, too', () => {
    const pod = podOf('web', { more: { resources: { requests: { memory: '20Mi' } } } });
    const { message, annotations } = describeEviction({ pod, use: useOf({ memoryBytes: 30 * mi }) }, memory);
    assert.match(message, /Pod web was using 30Mi, request is 20Mi, has larger consumption of memory\. $/);
    assert.equal(annotations['offending_pod_usage'], '30Mi');
  });
});

test('amounts are written as the signal counts', () => {
  assert.deepEqual(
    [formatAmount('memory.available', 1536 * 1024), formatAmount('pid.available', 32_000)],
    ['1536Ki', '32k'],
  );
});
