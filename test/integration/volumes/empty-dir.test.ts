import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runSuccessfully } from '../../support/index.ts';
import { mountPoints } from '../../support/mounts.ts';
import { hasOwnMounts } from './own-mounts.ts';
import { podId, podWith, untilFailed, untilReady, volumeLab } from './support.ts';

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);
const optionsAt = async (path: string) =>
  (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').find((line) => line.includes(` ${path} `)) ??
  '';
const isMounted = async (path: string) => (await mountPoints()).some((each) => each.path === path);
const memory = { name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } };

/** Far beyond the longest path. */
function makeDeep(path: string, depth: number): void {
  const name = 'd'.repeat(200);
  let parent = openSync(path, 'r');
  for (let level = 0; level < depth; level += 1) {
    mkdirSync(`/proc/self/fd/${parent}/${name}`);
    writeFileSync(`/proc/self/fd/${parent}/f`, '');
    const next = openSync(`/proc/self/fd/${parent}/${name}`, 'r');
    closeSync(parent);
    parent = next;
  }
  closeSync(parent);
}

if (hasOwnMounts(import.meta.filename)) {
  describe('an empty folder', () => {
    test('on disk: everybody may write, the folders above are closed', async () => {
      await using lab = await volumeLab();
      const pod = podWith([{ name: 'd', emptyDir: {} }]);
      assert.equal(lab.volumes.want(pod).state, 'waiting');
      await untilReady(lab.volumes, pod);
      assert.equal(await modeOf(lab.emptyDir('d')), '777');
      assert.equal(await modeOf(join(lab.podFolder, 'volumes')), '750');
      await stat(join(lab.podFolder, 'plugins/kubernetes.io~empty-dir/d/ready'));
      assert.deepEqual(await lab.volumes.mountsOf(pod, 'main'), [
        {
          containerPath: '/d',
          hostPath: lab.emptyDir('d'),
          isReadOnly: false,
          isRecursiveReadOnly: false,
          propagation: 'None',
        },
      ]);
    });

    test('what is in it survives a restart of the agent, and goes with the pod', async () => {
      await using lab = await volumeLab();
      const pod = podWith([{ name: 'd', emptyDir: {} }, memory]);
      await untilReady(lab.volumes, pod);
      await writeFile(join(lab.emptyDir('d'), 'a'), 'kept');
      await writeFile(join(lab.emptyDir('m'), 'b'), 'kept');
      const again = lab.restart();
      await untilReady(again, pod);
      assert.equal(await readFile(join(lab.emptyDir('d'), 'a'), 'utf8'), 'kept');
      assert.equal(await readFile(join(lab.emptyDir('m'), 'b'), 'utf8'), 'kept');
      assert.equal((await mountPoints()).filter(({ path }) => path === lab.emptyDir('m')).length, 1);
      await again.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
      await again.release(podId);
    });

    test('the group of the volumes owns it and what is made in it', async () => {
      await using lab = await volumeLab();
      const pod = podWith([{ name: 'd', emptyDir: {} }, memory], undefined, {
        securityContext: { fsGroup: 4711 },
      });
      await untilReady(lab.volumes, pod);
      for (const name of ['d', 'm']) {
        assert.equal(await modeOf(lab.emptyDir(name)), '2777');
        assert.equal((await stat(lab.emptyDir(name))).gid, 4711);
        await writeFile(join(lab.emptyDir(name), 'file'), '');
        assert.equal((await stat(join(lab.emptyDir(name), 'file'))).gid, 4711);
      }
    });

    test('in memory: the least of all limits counts', async () => {
      await using lab = await volumeLab({ memoryBytes: () => 32 * 2 ** 20 });
      const limited = (limit: string) => ({
        containers: [
          {
            name: 'main',
            image: 'app:1',
            resources: { limits: { memory: limit } },
            volumeMounts: [{ name: 'm', mountPath: '/m' }],
          },
        ],
      });
      const cases = [
        ['a', '1Mi', {}, 'size=1024k'],
        ['b', undefined, {}, 'size=32768k'],
        ['c', '8Mi', limited('4Mi'), 'size=4096k'],
        ['d', '2Mi', limited('4Mi'), 'size=2048k'],
      ] as const;
      for (const [uid, sizeLimit, spec, expected] of cases) {
        const pod = podWith(
          [{ name: 'm', emptyDir: { medium: 'Memory', ...(sizeLimit === undefined ? {} : { sizeLimit }) } }],
          undefined,
          spec,
        );
        const own = { ...pod, metadata: { ...pod.metadata, uid } };
        await untilReady(lab.volumes, own);
        const path = join(lab.rootDir, 'pods', uid, 'volumes/kubernetes.io~empty-dir/m');
        assert.match(await optionsAt(path), new RegExp(` tmpfs .*${expected}\\b`));
        assert.equal(await modeOf(path), '777');
      }
    });

    test('a mount that was lost is made again', async () => {
      await using lab = await volumeLab();
      const pod = podWith([memory]);
      await untilReady(lab.volumes, pod);
      await runSuccessfully('umount', [lab.emptyDir('m')]);
      await untilReady(lab.restart(), pod);
      assert.ok(await isMounted(lab.emptyDir('m')));
    });

    test('of huge pages is refused plainly, once and for all', async () => {
      await using lab = await volumeLab();
      const state = await untilFailed(
        lab.volumes,
        podWith([{ name: 'h', emptyDir: { medium: 'HugePages-2Mi' } }]),
      );
      assert.equal(state.reason, 'FailedMount');
      assert.equal(
        state.message,
        'MountVolume.SetUp failed for volume "h" : an emptyDir of the medium HugePages-2Mi is not supported by this agent',
      );
      assert.equal(state.untilMs, undefined);
    });

    test('is made when an ephemeral container is the first to mount it', async () => {
      await using lab = await volumeLab();
      const volumes = [
        { name: 'd', emptyDir: {} },
        { name: 'later', emptyDir: {} },
      ];
      const pod = podWith(volumes, [{ name: 'd', mountPath: '/d' }]);
      await untilReady(lab.volumes, pod);
      await writeFile(join(lab.emptyDir('d'), 'file'), '');
      const volumeMounts = [{ name: 'later', mountPath: '/later' }];
      const ephemeralContainers = [{ name: 'debug', image: 'app:1', volumeMounts }];
      const debugged = { ...pod, spec: { containers: [], ...pod.spec, ephemeralContainers } };
      assert.equal(lab.volumes.want(debugged).state, 'waiting');
      await untilReady(lab.volumes, debugged);
      assert.equal(await modeOf(lab.emptyDir('later')), '777');
      assert.deepEqual(await readdir(lab.emptyDir('d')), ['file']);
    });

    test('a volume that nobody mounts is not made', async () => {
      await using lab = await volumeLab();
      assert.equal(
        lab.volumes.want(podWith([{ name: 'd', secret: { secretName: 's' } }], [])).state,
        'ready',
      );
      await assert.rejects(stat(lab.podFolder), /ENOENT/);
    });
  });

  describe('what is released', () => {
    test('goes whole, links and strange names too, and nothing that links lead to', async () => {
      await using lab = await volumeLab();
      const pod = podWith([{ name: 'd', emptyDir: {} }]);
      await untilReady(lab.volumes, pod);
      const outside = join(lab.rootDir, 'outside');
      await mkdir(outside);
      await writeFile(join(outside, 'precious'), '');
      await symlink(outside, join(lab.emptyDir('d'), 'link'));
      await mkdir(join(lab.emptyDir('d'), 'a/b/c'), { recursive: true });
      await symlink(outside, join(lab.emptyDir('d'), 'a/b/c/link'));
      await writeFile(Buffer.concat([Buffer.from(`${lab.emptyDir('d')}/`), Buffer.from([0xff, 0xfe])]), '');
      await writeFile(join(lab.emptyDir('d'), 'näme'), '');
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
      assert.deepEqual(await readdir(outside), ['precious']);
    });

    test('goes however deep it is', async () => {
      await using lab = await volumeLab();
      await untilReady(lab.volumes, podWith([{ name: 'd', emptyDir: {} }]));
      makeDeep(lab.emptyDir('d'), 400);
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
    });

    test('mounts in it are taken off first, the deepest first, and what they show stays', async () => {
      await using lab = await volumeLab();
      await untilReady(lab.volumes, podWith([{ name: 'd', emptyDir: {} }, memory]));
      const outside = join(lab.rootDir, 'outside');
      await mkdir(join(outside, 'inner'), { recursive: true });
      await writeFile(join(outside, 'precious'), '');
      for (const name of ['d', 'm']) {
        const target = join(lab.emptyDir(name), 'a b');
        await mkdir(target);
        await runSuccessfully('mount', ['--bind', outside, target]);
        await runSuccessfully('mount', ['-t', 'tmpfs', 'deep', join(target, 'inner')]);
        await runSuccessfully('mount', ['-t', 'tmpfs', 'over', join(target, 'inner')]);
      }
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
      assert.deepEqual((await readdir(outside)).sort(), ['inner', 'precious']);
    });

    test('a mount that is in use is taken off the tree', async () => {
      await using lab = await volumeLab();
      await untilReady(lab.volumes, podWith([memory]));
      const { spawn } = await import('node:child_process');
      const user = spawn('sleep', ['600'], { cwd: lab.emptyDir('m') });
      try {
        await lab.volumes.release(podId);
        assert.deepEqual(await readdir(lab.podFolder), []);
      } finally {
        user.kill('SIGKILL');
      }
    });

    test('volumes of kinds that are not known stay, if they hold anything', async () => {
      await using lab = await volumeLab();
      const unknown = join(lab.podFolder, 'volumes/kubernetes.io~csi/pv/mount');
      await mkdir(unknown, { recursive: true });
      await assert.rejects(lab.volumes.release(podId), /kubernetes\.io~csi\/pv .*is not empty/);
      await stat(unknown);
      await rm(unknown, { recursive: true });
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
    });

    test('what was left half removed goes with the next try', async () => {
      await using lab = await volumeLab();
      await untilReady(lab.volumes, podWith([{ name: 'd', emptyDir: {} }]));
      await mkdir(join(lab.emptyDir('d'), '.nodeward-1/x'), { recursive: true });
      await rm(join(lab.podFolder, 'plugins'), { recursive: true });
      await lab.restart().release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
    });

    test('a pod that was never here, and one whose uid leads elsewhere', async () => {
      await using lab = await volumeLab();
      await lab.volumes.release({ ...podId, uid: 'never' });
      for (const uid of ['..', '../..', 'a/b', '', '.'])
        await assert.rejects(lab.volumes.release({ ...podId, uid }), /cannot be the name of a folder/);
    });
  });
}
