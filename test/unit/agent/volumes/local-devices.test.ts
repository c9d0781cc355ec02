import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResult } from '../../../../src/agent/volumes/tools.ts';
import { waitFor } from '../../../support/index.ts';
import { FakeStorage, keepers, podOf, volumeOf } from './storage-support.ts';
import { podWith } from './support.ts';

const open = new AbortController().signal;
const device = '/dev/sdz';
const done: ToolResult = { code: 0, output: '', errors: '' };
const isEmpty: ToolResult = { ...done, code: 2 };
const has = (type: string): ToolResult => ({ ...done, output: `DEVNAME=${device}\nTYPE=${type}\n` });

type Answers = Partial<Record<string, ToolResult | Error>>;

/** A pod whose claim is a device of the node, on which the programs of the system find what `answers` says. */
async function deviceLab(answers: Answers, local: { fsType?: string; mountOptions?: string[] } = {}) {
  const storage = new FakeStorage();
  const { mountOptions, ...more } = local;
  storage.bind('a', {
    csi: undefined,
    local: { path: device, ...more },
    ...(mountOptions && { mountOptions }),
  });
  const ran: string[] = [];
  const now: Answers = { ...answers };
  const made = await keepers(storage, {
    run: async (command, argv) => {
      if (command === 'stat') return { ...done, output: 'block special file' };
      ran.push([command, ...argv].join(' ').replaceAll(made.rootDir, ''));
      const answer = now[command] ?? done;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const shared = join(made.rootDir, 'plugins/kubernetes.io/local-volume');
  const failure = async (pod = podOf('a')) =>
    await made
      .start()
      .claimed.setUp(volumeOf(pod), open)
      .then(
        () => '',
        (error: unknown) => `${Object(error).step}: ${Object(error).message.replaceAll(made.rootDir, '')}`,
      );
  return {
    ...{ ran, now, failure, shared },
    start: () => made.start(),
    rootDir: made.rootDir,
    commands: () => ran.map((line) => line.split(' ')[0]),
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}

const path = '/plugins/kubernetes.io/local-volume/mounts/pv-a';
const target = '/pods/u1/volumes/kubernetes.io~local-volume/pv-a';
const failed = (why: string, fsType = '') =>
  `MountVolume.MountDevice: local: failed to mount device ${device} at ${path} (fstype: ${fsType}), error ${why}`;

describe('a device of the node as a file system', () => {
  test('gets one if it is empty, once for all pods, and is mounted', async () => {
    await using lab = await deviceLab({ blkid: isEmpty }, { mountOptions: ['noatime'] });
    assert.equal(await lab.failure(), '');
    assert.deepEqual(lab.ran, [
      `blkid -p -s TYPE -s PTTYPE -o export -- ${device}`,
      `cmp --bytes=4194304 -- ${device} /dev/zero`,
      `mkfs.ext4 -F -m0 ${device}`,
      `mount -n -t ext4 -o defaults,noatime -- ${device} ${path}`,
      `mount -n --no-canonicalize --bind ${path} ${target}`,
    ]);
    assert.deepEqual(await readdir(join(lab.shared, 'formats')), []);
  });

  test('gets one of the type that is wanted', async () => {
    await using lab = await deviceLab({ blkid: isEmpty }, { fsType: 'xfs' });
    assert.equal(await lab.failure(), '');
    assert.ok(lab.ran.includes(`mkfs.xfs -f ${device}`));
    assert.ok(lab.ran.includes(`mount -n -t xfs -o defaults -- ${device} ${path}`));
  });

  test('is checked and mounted if it has one', async () => {
    await using lab = await deviceLab({ blkid: has('ext4'), fsck: { ...done, code: 1, output: 'repaired' } });
    assert.equal(await lab.failure(), '');
    assert.deepEqual(lab.commands(), ['blkid', 'fsck', 'mount', 'mount']);
  });

  const refusals: [what: string, answers: Answers, message: string, fsType?: string][] = [
    [
      'has what no tool knows',
      { blkid: isEmpty, cmp: { code: 1, output: 'differ: byte 7', errors: '' } },
      failed(
        `there is something on ${device} that is no known file system, and it is not overwritten: if it is of no use, clear the device with blkdiscard --zeroout`,
      ),
    ],
    [
      'cannot be read',
      { blkid: isEmpty, cmp: { code: 2, output: '', errors: 'cmp: Input/output error\n' } },
      failed(`${device} cannot be read: cmp: Input/output error`),
    ],
    [
      'has no bytes',
      { blkid: isEmpty, cmp: { code: 1, output: '', errors: `cmp: EOF on ${device} which is empty` } },
      failed(`${device} cannot be read: cmp: EOF on ${device} which is empty`),
    ],
    [
      'cannot be told',
      { blkid: { code: 8, output: '', errors: '' } },
      failed(`failed to get disk format of disk ${device}: exit status 8`),
    ],
    [
      'is told in a way that says nothing',
      { blkid: { ...done, output: 'DEVNAME=x' } },
      failed(`failed to get disk format of disk ${device}: blkid said "DEVNAME=x"`),
    ],
    [
      'hangs',
      { blkid: new Error('blkid does not answer within 30 s') },
      failed(`failed to get disk format of disk ${device}: blkid does not answer within 30 s`),
    ],
    [
      'has partitions',
      { blkid: { ...done, output: 'PTTYPE=gpt\n' } },
      failed(`${device} has unknown data, probably partitions`),
    ],
    [
      'has faults',
      { blkid: has('ext4'), fsck: { code: 4, output: 'bad', errors: '' } },
      failed(`'fsck' found errors on device ${device} but could not correct them: bad`),
    ],
    [
      'is to have a type that is none',
      { blkid: isEmpty },
      failed('"../x" is no type of file system', '../x'),
      '../x',
    ],
  ];
  for (const [what, answers, message, fsType] of refusals)
    test(`that ${what} is left as it is`, async () => {
      await using lab = await deviceLab(answers, fsType === undefined ? {} : { fsType });
      assert.equal(await lab.failure(), message);
      assert.ok(!lab.commands().some((command) => command?.startsWith('mkfs') || command === 'mount'));
      assert.deepEqual(await readdir(join(lab.shared, 'mounts')), []);
    });

  test('with another one says so where it cannot be mounted', async () => {
    await using lab = await deviceLab({
      blkid: has('xfs'),
      mount: { code: 32, output: '', errors: 'wrong fs type' },
    });
    const why = `mount of ${path} failed: wrong fs type; the file system on it is xfs, not ext4`;
    assert.equal(await lab.failure(), failed(why));
  });

  test('is not made for a pod that only reads', async () => {
    const pod = podWith([{ name: 'data', persistentVolumeClaim: { claimName: 'a', readOnly: true } }]);
    await using lab = await deviceLab({ blkid: isEmpty });
    const why = `cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`;
    assert.equal(await lab.failure(pod), failed(why));
    lab.now['blkid'] = has('ext4');
    assert.equal(await lab.failure(pod), '');
    assert.ok(!lab.commands().includes('fsck'));
  });

  test('is mounted unchecked where there is no fsck', async () => {
    await using lab = await deviceLab({ blkid: has('ext4'), fsck: new Error('cannot run fsck') });
    assert.equal(await lab.failure(), '');
  });

  test('that failed half way is begun again: what is on the device then is nobody’s', async () => {
    await using lab = await deviceLab({
      blkid: isEmpty,
      'mkfs.ext4': { code: 1, output: 'no', errors: 'room' },
    });
    const options = 'options:("defaults") errcode:(exit status 1) output:(no\nroom)';
    const why = `format of disk "${device}" failed: type:("ext4") target:("${path}") ${options}`;
    assert.equal(await lab.failure(), failed(why));
    Object.assign(lab.now, { cmp: { code: 1, output: 'differ', errors: '' }, 'mkfs.ext4': done });
    assert.equal(await lab.failure(), '');
    assert.deepEqual(lab.commands(), ['blkid', 'cmp', 'mkfs.ext4', 'blkid', 'mkfs.ext4', 'mount', 'mount']);
    lab.now['blkid'] = isEmpty; // cleared by nobody
    assert.match(await lab.failure(podOf('a', 'u2')), /there is something on/);
  });

  test('that was made when the agent was killed is mounted by the next one', async () => {
    await using lab = await deviceLab({ blkid: has('ext4') });
    await mkdir(join(lab.shared, 'formats'), { recursive: true });
    await writeFile(join(lab.shared, 'formats/pv-a'), device);
    assert.equal(await lab.failure(), '');
    assert.deepEqual(lab.commands(), ['blkid', 'fsck', 'mount', 'mount']);
    assert.deepEqual(await readdir(join(lab.shared, 'formats')), []);
  });

  test('that was begun on another device says nothing of this one', async () => {
    await using lab = await deviceLab({ blkid: isEmpty, cmp: { code: 1, output: 'differ', errors: '' } });
    await mkdir(join(lab.shared, 'formats'), { recursive: true });
    await writeFile(join(lab.shared, 'formats/pv-a'), '/dev/sdx');
    assert.match(await lab.failure(), /there is something on/);
  });

  test('goes when no pod has it', async () => {
    await using lab = await deviceLab({ blkid: has('ext4') });
    const { claimed, releaseUnused } = lab.start();
    await claimed.setUp(volumeOf(podOf('a')), open);
    await releaseUnused();
    await claimed.setUp(volumeOf(podOf('a', 'u2')), open); // which waits for that look
    assert.ok(existsSync(join(lab.shared, 'mounts/pv-a')));
    await rmdir(join(lab.rootDir, target.replace('u1', 'u2')));
    await rmdir(join(lab.rootDir, target));
    await releaseUnused();
    await waitFor('it to go', () => !existsSync(join(lab.shared, 'mounts/pv-a')));
  });
});
