import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ArchiveContents } from '../../../../../src/agent/checkpoint/archive/index.ts';
import { createArchiveReader } from '../../../../../src/agent/checkpoint/archive/index.ts';
import { checkpoint, json, tar } from './archives.ts';

async function read(bytes: Uint8Array, options: { pieces?: number; environmentValues?: boolean } = {}) {
  const { pieces = 4096, ...rest } = options;
  const reader = await createArchiveReader({ what: 'the archive', ...rest });
  for (let at = 0; at < bytes.length; at += pieces) await reader.push(bytes.subarray(at, at + pieces));
  return await reader.end();
}

const processOf = ({ processes }: ArchiveContents, pid: number) => {
  const found = processes.find((each) => each.pid === pid);
  assert.ok(found);
  return found;
};

describe('what is in an archive', () => {
  test('says of which container it is, and what made it', async () => {
    const { container, criu, archive, logBytes, notes } = await read(tar(checkpoint()));
    assert.deepEqual(container, {
      id: 'container-1',
      name: 'main',
      pod: 'web',
      namespace: 'default',
      podUid: 'uid-1',
      image: 'localhost/app:1',
      imageRef: 'localhost/app@sha256:0123',
      runtime: 'io.containerd.runc.v2',
      createdAt: '2026-01-02T03:04:05Z',
      checkpointedAt: '2026-01-02T03:05:06.789Z',
      architecture: 'amd64',
    });
    assert.deepEqual(criu, { version: '4.2.1', imageVersion: 2 });
    assert.equal(archive.whole, true);
    assert.equal(archive.pagesBytes, 40_960);
    assert.equal(logBytes, 4);
    assert.deepEqual(notes, []);
  });

  test('tells processes with their threads, memory and files', async () => {
    const contents = await read(tar(checkpoint()));
    assert.deepEqual(
      contents.processes.map(({ pid, ppid, comm, state, threads }) => [pid, ppid, comm, state, threads]),
      [
        [1, 0, 'sh', 'alive', 1],
        [7, 1, 'worker', 'alive', 2],
      ],
    );
    // what is in an earlier dump does not count, shared memory counts apart
    assert.deepEqual(processOf(contents, 1).memory, {
      virtualBytes: 0x14000,
      privateBytes: 40_960,
      sharedBytes: 12_288,
      heapBytes: 0x4000,
      areas: 2,
    });
    assert.equal(processOf(contents, 7).memory.privateBytes, 4096);
    assert.deepEqual(processOf(contents, 1).files, [
      { fd: 0, kind: 'file', name: '/dev/null', mode: 'rw', position: 3 },
      { fd: 1, kind: 'pipe', name: 'pipe:[77]', mode: 'w' },
      { fd: 2, kind: 'tcp', name: '127.0.0.1:8080', state: 'LISTEN', local: '127.0.0.1:8080' },
    ]);
    assert.deepEqual(processOf(contents, 7).files, [
      { fd: 4, kind: 'unix', name: '@bus', state: 'ESTABLISHED', local: '@bus', remote: '[10]' },
      { fd: 5, kind: 'eventfd', name: '' },
      { fd: 6, kind: 'type 99', name: '' },
    ]);
  });

  test('tells mounts, annotations and what differs from the image', async () => {
    const { mounts, annotations, changedFiles } = await read(tar(checkpoint()));
    assert.deepEqual(
      mounts.map(({ mountpoint, type, readOnly }) => [mountpoint, type, readOnly]),
      [
        ['/', 'overlay', false],
        ['/proc', 'proc', true],
      ],
    );
    assert.deepEqual(annotations, { team: 'one' });
    assert.deepEqual(changedFiles, {
      files: 2,
      bytes: 5003,
      largest: [
        { path: '/data/large', bytes: 5000 },
        { path: '/data/count', bytes: 3 },
      ],
      removed: ['/etc/motd'],
    });
  });

  test('keeps values of the environment only when they are asked for', async () => {
    const without = await read(tar(checkpoint()));
    assert.deepEqual(without.environment, [{ name: 'PATH' }, { name: 'TOKEN' }]);
    assert.ok(!JSON.stringify(without).includes('secret'));
    const { environment } = await read(tar(checkpoint()), { environmentValues: true });
    assert.deepEqual(environment[1], { name: 'TOKEN', value: 'secret' });
  });

  test('is the same in whatever pieces it comes', async () => {
    const bytes = tar(checkpoint());
    const whole = await read(bytes, { pieces: bytes.length });
    for (const pieces of [1, 7, 511, 513]) assert.deepEqual(await read(bytes, { pieces }), whole);
  });

  test('reads changed files that are not compressed, as other runtimes write them', async () => {
    const files = checkpoint().filter(({ name }) => name !== 'rootfs-diff.tar');
    const plain = tar([json('new.json', {})]);
    const { changedFiles } = await read(tar([...files, { name: 'rootfs-diff.tar', bytes: plain }]));
    assert.deepEqual(changedFiles.largest, [{ path: '/new.json', bytes: 2 }]);
  });
});

describe('what is no archive of a checkpoint', () => {
  const refusals: [string, Uint8Array, RegExp][] = [
    ['nothing', Buffer.alloc(0), /the archive is too short/],
    ['text', Buffer.alloc(2000, 'a'), /the archive is no tar archive/],
    ['a compressed archive', gzipSync(tar(checkpoint()), { level: 0 }), /the archive is compressed/],
    ['an encrypted one', Buffer.from('age-encryption.org/v1\n'.padEnd(600)), /encrypted.*checkpoint open/],
    ['another tar archive', tar([json('a.json', {})]), /the archive is no checkpoint of a container/],
    ['an empty one', tar([]), /the archive is no checkpoint/],
  ];
  for (const [what, bytes, expected] of refusals) {
    test(`is refused: ${what}`, () => assert.rejects(read(bytes), expected));
  }
});
