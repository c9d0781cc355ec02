import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findExcess, hasStorageLimit } from '../../../../src/agent/eviction/storage-limits.ts';
import { disk, mi, podOf, useOf } from './samples.ts';

const limited = (limit: string) => ({ resources: { limits: { 'ephemeral-storage': limit } } });
const volume = (sizeLimit: string, medium?: string) => ({
  name: 'v',
  emptyDir: { sizeLimit, ...(medium === undefined ? {} : { medium }) },
});

describe('a pod that is above a limit of local storage says, word for word', () => {
  test('which emptyDir', () => {
    const pod = podOf('web', { volumes: [volume('0.5Gi')] });
    const use = (bytes: number) => useOf({ volumes: [{ name: 'v', ...disk(bytes) }] });
    assert.equal(findExcess(pod, use(512 * mi), 'shared'), undefined);
    assert.deepEqual(findExcess(pod, use(512 * mi + 1), 'shared'), {
      limit: 'emptydirfs.limit',
      message: 'Usage of EmptyDir volume "v" exceeds the limit "512Mi". ',
    });
    assert.equal(findExcess(pod, useOf(), 'shared'), undefined, 'it was not measured');
  });

  test('that its containers together are, with logs and volumes', () => {
    const pod = podOf('web', {
      more: {
        containers: [
          { name: 'main', ...limited('1Gi') },
          { name: 'other', ...limited('1Gi') },
          { name: 'free' },
        ],
      },
    });
    const use = (bytes: number) =>
      useOf({
        containers: [
          { name: 'main', layer: disk(500 * mi), logs: disk(bytes) },
          { name: 'free', layer: disk(500 * mi) },
        ],
        volumes: [{ name: 'v', ...disk(500 * mi) }],
      });
    assert.equal(findExcess(pod, use(500 * mi), 'shared'), undefined);
    assert.deepEqual(findExcess(pod, use(548 * mi + 1), 'shared'), {
      limit: 'ephemeralpodfs.limit',
      message: 'Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ',
    });
  });

  test('which container; on a file system of its own its layer does not count', () => {
    const pod = podOf('web', {
      more: {
        containers: [
          { name: 'main', ...limited('10M') },
          { name: 'other', ...limited('1G') },
        ],
      },
    });
    const use = useOf({ main: { layer: disk(8_000_000), logs: disk(2_000_001) } });
    assert.deepEqual(findExcess(pod, use, 'shared'), {
      limit: 'ephemeralcontainerfs.limit',
      message: 'Container main exceeded its local ephemeral storage limit "10M". ',
    });
    assert.equal(findExcess(pod, use, 'images'), undefined);
    assert.ok(findExcess(pod, useOf({ main: { logs: disk(10_000_001) } }), 'images'));
  });

  test('the sum in the suffixes of its limits', () => {
    const pod = podOf('web', { more: { containers: [{ name: 'main', ...limited('500M') }] } });
    const { message = '' } = findExcess(pod, useOf({ main: { logs: disk(6e8) } }), 'shared') ?? {};
    assert.match(message, /limit of containers 500M\. $/);
  });
});

test('only pods with a limit are worth a walk through their folders', () => {
  const init = { more: { initContainers: [{ name: 'first', ...limited('1Gi') }] } };
  assert.deepEqual(
    [
      podOf('none', { volumes: [{ name: 'v', emptyDir: {} }] }),
      podOf('zero', { volumes: [volume('0')] }),
      podOf('sized', { volumes: [volume('1Gi')] }),
      podOf('limit', { limits: { 'ephemeral-storage': '1Gi' } }),
      podOf('init', init),
    ].map(hasStorageLimit),
    [false, false, true, true, true],
  );
});
