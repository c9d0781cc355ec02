import assert from 'node:assert/strict';
import { chmod, chown, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { giveToGroup, giveToPod, groupAccessOf } from '../../../../src/agent/volumes/ownership.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const skip = process.geteuid?.() === 0 ? false : 'giving files away needs root';
const cancel = new AbortController().signal;
const all = { group: 4321, isReadOnly: false, isOnRootMismatch: false };

/** Group and mode, such as `4321 0660`. */
async function accessOf(path: string): Promise<string> {
  const { gid, mode } = await lstat(path);
  return `${gid} ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
}

/** A volume with a file, a program, a folder with a file, and links that lead out. */
async function volume() {
  const folder = await temporaryFolder('ownership-');
  const base = join(folder.path, 'volume');
  const outside = join(folder.path, 'outside');
  await mkdir(join(base, 'a/b'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), '', { mode: 0o600 });
  await writeFile(join(base, 'file'), '', { mode: 0o600 });
  await writeFile(join(base, 'a/b/program'), '', { mode: 0o755 });
  await chmod(join(base, 'a/b/program'), 0o4755);
  await chown(join(base, 'file'), 77, 78);
  await symlink(outside, join(base, 'to-folder'));
  await symlink(join(outside, 'secret'), join(base, 'to-file'));
  return { base, outside, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe('the group of a volume', { skip }, () => {
  test('gets what it may read and write; owners, links and what they lead to stay', async () => {
    await using made = await volume();
    assert.equal(await giveToGroup(made.base, all, { cancel }), 6);
    assert.equal(await accessOf(made.base), '4321 2775');
    assert.equal(await accessOf(join(made.base, 'a/b')), '4321 2775');
    assert.equal(await accessOf(join(made.base, 'file')), '4321 0660');
    assert.equal((await lstat(join(made.base, 'file'))).uid, 77);
    assert.equal(await accessOf(join(made.base, 'a/b/program')), '4321 4775');
    assert.equal((await lstat(join(made.base, 'to-file'))).gid, 4321);
    assert.equal(await accessOf(made.outside), '0 0755');
    assert.equal(await accessOf(join(made.outside, 'secret')), '0 0600');
  });

  test('gets no right to write what is read-only', async () => {
    await using made = await volume();
    await chmod(join(made.base, 'a'), 0o500);
    await giveToGroup(made.base, { ...all, isReadOnly: true }, { cancel });
    assert.equal(await accessOf(join(made.base, 'file')), '4321 0640');
    assert.equal(await accessOf(join(made.base, 'a')), '4321 2550');
  });

  test('with OnRootMismatch nothing is looked at below a root that fits', async () => {
    await using made = await volume();
    const onMismatch = { ...all, isOnRootMismatch: true };
    assert.equal(await giveToGroup(made.base, onMismatch, { cancel }), 6);
    await chown(join(made.base, 'file'), 0, 0);
    assert.equal(await giveToGroup(made.base, onMismatch, { cancel }), 0);
    assert.equal(await accessOf(join(made.base, 'file')), '0 0660');
    await chmod(made.base, 0o775); // without setgid
    await giveToGroup(made.base, onMismatch, { cancel });
    assert.equal(await accessOf(join(made.base, 'file')), '4321 0660');
  });

  test('what stands in the way is said, and a call can be given up', async () => {
    await using made = await volume();
    await assert.rejects(giveToGroup(join(made.base, 'file'), all, { cancel }), {
      message: /^the group of the volume cannot be set: ENOTDIR/,
    });
    await assert.rejects(giveToGroup(join(made.base, 'to-folder'), all, { cancel }), /cannot be set/);
    const given = new AbortController();
    const giving = giveToGroup(made.base, all, { cancel: given.signal });
    given.abort(new Error('the pod ends'));
    await assert.rejects(giving, { message: 'the pod ends' });
  });

  test('is what the pod says', () => {
    const of = (securityContext: object) =>
      groupAccessOf({ spec: { containers: [], securityContext } }, false);
    assert.equal(of({}), undefined);
    assert.deepEqual(of({ fsGroup: 5 }), { group: 5, isReadOnly: false, isOnRootMismatch: false });
    assert.equal(of({ fsGroup: 5, fsGroupChangePolicy: 'OnRootMismatch' })?.isOnRootMismatch, true);
  });
});

describe('a volume that is slow to be given away', () => {
  const path = '/root/pods/uid-1/volumes/kubernetes.io~csi/disk/mount';
  const where = 'uid-1/volumes/kubernetes.io~csi/disk/mount';
  const page =
    'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods';
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'shop', uid: 'uid-1' },
    spec: { containers: [], securityContext: { fsGroup: 4321 } },
  };

  /** Gives it away until `end` is called, with 1,000 files told after 10 s. */
  function begin(of: Pod = pod) {
    const clock = createManualClock();
    const told: string[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    promise.catch(() => undefined);
    const given = giveToPod(
      of,
      path,
      {
        clock,
        report: (_, { type, reason, message }) => void told.push(`${type} ${reason}: ${message}`),
        async give(_path, _access, { onProgress }) {
          await clock.sleep(10_000);
          onProgress?.(1000);
          return await promise;
        },
      },
      cancel,
    );
    return { clock, told, given, end: resolve, fail: reject };
  }

  test('has an Event after half a minute, and one each minute after that says how far it is', async () => {
    const { clock, told, given, end } = begin();
    await clock.advance(29_999);
    assert.deepEqual(told, []);
    await clock.advance(1);
    const first = `Warning VolumePermissionChangeInProgress: Setting volume ownership for ${where} is taking longer than expected, consider using OnRootMismatch - ${page}`;
    assert.deepEqual(told, [first]);
    await clock.advance(60_000);
    const second = `Warning VolumePermissionChangeInProgress: Setting volume ownership for ${where}, processed 1000 files.`;
    assert.deepEqual(told, [first, second]);
    end(1500);
    await given;
    await clock.advance(600_000);
    assert.equal(told.length, 2, 'it is done');
    assert.equal(clock.sleepers, 0);
  });

  test('has none when it was quick, when it fails, or when the pod has no group', async () => {
    const quick = begin();
    await quick.clock.advance(20_000);
    quick.end(3);
    await quick.given;
    const failing = begin();
    const rejected = assert.rejects(failing.given, /disk full/);
    failing.fail(new Error('disk full'));
    await failing.clock.advance(20_000);
    await rejected;
    const without = begin({ ...pod, spec: { containers: [] } });
    await without.given;
    for (const { clock, told } of [quick, failing, without]) {
      await clock.advance(600_000);
      assert.deepEqual(told, []);
    }
  });
});
