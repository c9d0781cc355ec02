import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { describeError } from '../../../src/base/index.ts';
import { runSuccessfully } from '../../support/index.ts';
import { mountPoints } from '../../support/mounts.ts';
import { hasOwnMounts } from './own-mounts.ts';
import type { VolumeLab } from './support.ts';
import { podId, podWith, untilReady, volumeLab } from './support.ts';

const d = { name: 'd', emptyDir: {} };
const at = (subPath: string) => podWith([d], [{ name: 'd', mountPath: '/x', subPath }]);

async function hostPathOf(
  lab: VolumeLab,
  pod: ReturnType<typeof podWith>,
  environment = [{ name: 'POD', value: 'web-0' }],
) {
  await untilReady(lab.volumes, pod);
  const [mount] = await lab.volumes.mountsOf(pod, 'main', environment);
  return mount?.hostPath ?? '';
}

/** With all that a status would say of it. */
const refused = (error: unknown): boolean =>
  describeError(error) === 'failed to prepare subPath for volumeMount "d" of container "main"';

if (hasOwnMounts(import.meta.filename)) {
  describe('a part of a volume', () => {
    test('is made with the mode of the volume, and mounted where containers cannot reach', async () => {
      await using lab = await volumeLab();
      const path = await hostPathOf(lab, at('a/./b//c'));
      assert.equal(path, join(lab.podFolder, 'volume-subpaths/d/main/0'));
      await writeFile(join(path, 'file'), 'seen');
      assert.equal(await readFile(join(lab.emptyDir('d'), 'a/b/c/file'), 'utf8'), 'seen');
      assert.equal((await stat(join(lab.emptyDir('d'), 'a/b'))).mode & 0o7777, 0o777);
      assert.equal((await stat(join(lab.podFolder, 'volume-subpaths'))).mode & 0o7777, 0o750);
    });

    test('may be a file, and another thing at the next start', async () => {
      await using lab = await volumeLab();
      const pod = at('thing');
      await untilReady(lab.volumes, pod);
      await writeFile(join(lab.emptyDir('d'), 'thing'), 'text');
      const path = await hostPathOf(lab, pod);
      assert.equal(await readFile(path, 'utf8'), 'text');
      await runSuccessfully('rm', [join(lab.emptyDir('d'), 'thing')]);
      assert.equal(await hostPathOf(lab, pod), path);
      assert.ok((await stat(path)).isDirectory());
      assert.equal((await mountPoints()).filter((each) => each.path === path).length, 1);
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
    });

    test('is named by variables of the container', async () => {
      await using lab = await volumeLab();
      const named = (subPathExpr: string) => podWith([d], [{ name: 'd', mountPath: '/x', subPathExpr }]);
      await hostPathOf(lab, named('logs/$(POD)/$$(POD)'));
      assert.deepEqual(await readdir(join(lab.emptyDir('d'), 'logs/web-0')), ['$(POD)']);
      await assert.rejects(hostPathOf(lab, named('$(NONE)/$(NOR)')), /missing value for NONE, NOR/);
      await assert.rejects(hostPathOf(lab, named('$(POD)'), [{ name: 'POD', value: '../..' }]), {
        message: "unable to provision SubPath `../..`: must not contain '..'",
      });
      await assert.rejects(hostPathOf(lab, named('$(POD)'), [{ name: 'POD', value: '/etc' }]), {
        message: 'error SubPath `/etc` must not be an absolute path',
      });
    });

    test('follows links that stay inside, and no others', async () => {
      await using lab = await volumeLab();
      await untilReady(lab.volumes, at('x'));
      const inside = (name: string) => join(lab.emptyDir('d'), name);
      await mkdir(inside('real/deep'), { recursive: true });
      await symlink('real/deep', inside('relative'));
      await symlink('../../d/real', inside('real/out-and-in'));
      await symlink('..', inside('real/deep/up'));
      await symlink('../../../..', inside('real/deep/out'));
      await symlink('/etc', inside('etc'));
      await symlink('loop', inside('loop'));
      await writeFile(inside('file'), '');
      for (const [subPath, made] of [
        ['relative/a', 'real/deep/a'],
        ['relative/up/b', 'real/b'],
      ] as const) {
        await hostPathOf(lab, at(subPath));
        assert.ok((await stat(inside(made))).isDirectory(), made);
      }
      for (const subPath of [
        'etc',
        'etc/passwd',
        'loop',
        'real/deep/out',
        'real/deep/out/x',
        'real/out-and-in',
        'file/x',
      ])
        await assert.rejects(hostPathOf(lab, at(subPath)), refused, subPath);
      assert.equal(await readlink(inside('etc')), '/etc');
    });

    test('a volume that holds mounts of others is walked in a process of its own', async () => {
      await using lab = await volumeLab();
      const pod = at('mounted/part');
      await untilReady(lab.volumes, pod);
      const mounted = join(lab.emptyDir('d'), 'mounted');
      await mkdir(mounted);
      await runSuccessfully('mount', ['-t', 'tmpfs', 'other', mounted]);
      const path = await hostPathOf(lab, pod);
      await writeFile(join(path, 'file'), '');
      assert.deepEqual(await readdir(join(mounted, 'part')), ['file']);
    });

    test('of a path of the node', async () => {
      await using lab = await volumeLab();
      const path = join(lab.rootDir, 'data');
      await mkdir(join(path, 'v1'), { recursive: true });
      await symlink(join(path, 'v1'), join(path, 'current'));
      await symlink('/etc', join(path, 'etc'));
      const part = (subPath: string) =>
        podWith([{ name: 'd', hostPath: { path } }], [{ name: 'd', mountPath: '/x', subPath }]);
      await writeFile(join(await hostPathOf(lab, part('current/a')), 'file'), '');
      assert.deepEqual(await readdir(join(path, 'v1/a')), ['file']);
      await assert.rejects(hostPathOf(lab, part('etc')), refused);
    });
  });

  describe('a container that exchanges folders for links', () => {
    // The folder `a/b` of the volume is a folder and a link to a place outside in turn, as fast as a program can. Now and
    // then it stays a folder for a while, longer each time: otherwise one that always has a core for itself never lets anybody
    // mount it.
    const attack = (volume: string, outside: string): ChildProcess =>
      spawn(
        process.execPath,
        [
          '-e',
          `const fs = require('node:fs'), [volume, outside] = process.argv.slice(1);
           const place = volume + '/a/b';
           const attempt = (act) => { try { act(); } catch {} }; // the agent may have made a folder meanwhile
           fs.mkdirSync(place, { recursive: true });
           process.stdout.write('going\\n');
           const stay = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
           let waitMs = 10;
           for (let nextMs = 200; ; ) {
             attempt(() => fs.rmSync(place, { recursive: true }));
             attempt(() => fs.symlinkSync(outside, place));
             attempt(() => fs.unlinkSync(place));
             attempt(() => fs.mkdirSync(place));
             if (performance.now() < nextMs) continue;
             stay(waitMs);
             waitMs = Math.min(waitMs * 2, 2000);
             nextMs = performance.now() + 200;
           }`,
          '--',
          volume,
          outside,
        ],
        { stdio: ['ignore', 'pipe', 'ignore'] },
      );

    test('never gets what is outside', async () => {
      await using lab = await volumeLab();
      const pod = at('a/b/c');
      await untilReady(lab.volumes, pod);
      const outside = join(lab.rootDir, 'outside');
      await mkdir(join(outside, 'c'), { recursive: true });
      await writeFile(join(outside, 'c/secret'), '');
      const attacker = attack(lab.emptyDir('d'), outside);
      try {
        await new Promise((resolve) => attacker.stdout?.once('data', resolve));
        const outcomes = { mounted: 0, refused: 0 };
        const endMs = performance.now() + 120_000; // on a busy machine either may stand still for long
        const isEnough = (round: number) => round >= 60 && outcomes.mounted > 0 && outcomes.refused > 0;
        for (let round = 0; !isEnough(round) && performance.now() < endMs; round += 1) {
          try {
            const path = await hostPathOf(lab, pod);
            assert.deepEqual(await readdir(path), [], 'the container would see what is outside');
            outcomes.mounted += 1;
          } catch (error) {
            assert.ok(refused(error), describeError(error));
            outcomes.refused += 1;
          }
        }
        assert.ok(outcomes.mounted > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
        assert.deepEqual(await readdir(outside), ['c']);
      } finally {
        attacker.kill('SIGKILL');
      }
    });

    test('does not turn the removal of the volume against what is outside', async () => {
      for (let round = 0; round < 15; round += 1) {
        await using lab = await volumeLab();
        await untilReady(lab.volumes, podWith([d]));
        const outside = join(lab.rootDir, 'outside');
        await mkdir(join(outside, 'c'), { recursive: true });
        await writeFile(join(outside, 'c/secret'), '');
        const attacker = attack(lab.emptyDir('d'), outside);
        attacker.once('error', () => undefined);
        try {
          await new Promise((resolve) => attacker.stdout?.once('data', resolve));
          await lab.volumes.release(podId).catch(() => undefined);
          assert.deepEqual(await readdir(join(outside, 'c')), ['secret']);
        } finally {
          attacker.kill('SIGKILL');
        }
        await new Promise((resolve) =>
          attacker.exitCode === null && attacker.signalCode === null
            ? attacker.once('exit', resolve)
            : resolve(0),
        );
        await lab.volumes.release(podId);
        assert.deepEqual(await readdir(lab.podFolder), []);
        assert.deepEqual(await readdir(join(outside, 'c')), ['secret']);
      }
    });
  });
}
