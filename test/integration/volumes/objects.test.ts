import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  statfs,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { writeFiles } from '../../../src/agent/volumes/atomic/write.ts';
import { Folder } from '../../../src/agent/volumes/folder.ts';
import { readMountTable } from '../../../src/agent/volumes/mount-table.ts';
import { giveToGroup } from '../../../src/agent/volumes/ownership.ts';
import { FakeObjects, FakeTokens } from '../../support/fake-objects.ts';
import { runCommand, temporaryFolder, unmountBelow, waitFor } from '../../support/index.ts';
import { hasOwnMounts } from './own-mounts.ts';
import { podId, podWith, untilFailed, untilReady, volumeLab } from './support.ts';

const tmpfs = 0x01021994;

async function lab(change: Parameters<typeof volumeLab>[0] = {}) {
  const objects = new FakeObjects();
  const tokens = new FakeTokens();
  const made = await volumeLab({ objects, tokens, ...change });
  const folder = (kind: string, name = 'v') => join(made.podFolder, `volumes/kubernetes.io~${kind}`, name);
  return { ...made, objects, tokens, folder, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}

async function run(command: string, ...argv: string[]): Promise<void> {
  const { code, stderr } = await runCommand(command, argv);
  assert.equal(code, 0, `${command}: ${stderr}`);
}

if (hasOwnMounts(import.meta.filename)) {
  describe('what is secret', () => {
    const pod = podWith([
      { name: 'v', secret: { secretName: 's' } },
      { name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      { name: 'd', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'c', configMap: { name: 'c' } },
    ]);

    test('is in memory, also after a restart of the agent, and changes where containers have it', async () => {
      await using made = await lab();
      made.objects.setSecret('s', { password: 'one' });
      made.objects.setConfigMap('c', { a: '1' });
      await untilReady(made.volumes, pod);
      for (const folder of [
        made.folder('secret'),
        made.folder('projected', 't'),
        made.folder('downward-api', 'd'),
      ])
        assert.equal((await statfs(folder)).type, tmpfs, folder);
      assert.notEqual((await statfs(made.folder('configmap', 'c'))).type, tmpfs);
      const count = () => readMountTable().filter(({ path }) => path.startsWith(made.podFolder)).length;
      assert.equal(count(), 3);
      const container = join(made.rootDir, 'container');
      await mkdir(container);
      await run('mount', '--bind', made.folder('secret'), container);
      made.volumes.close();
      const again = made.restart();
      await untilReady(again, pod);
      assert.equal(count(), 3);
      made.objects.setSecret('s', { password: 'two' });
      await waitFor(
        'the new one',
        async () => (await readFile(join(container, 'password'), 'utf8')) === 'two',
      );
      await run('umount', container);
      await again.release(podId);
      assert.deepEqual(await readdir(made.podFolder), []);
      assert.equal(count(), 0);
    });

    test('is put back in memory, never on the disk, where the tmpfs was unmounted', async () => {
      await using made = await lab();
      made.objects.setSecret('s', { password: 'one' });
      await untilReady(made.volumes, podWith([{ name: 'v', secret: { secretName: 's' } }]));
      await run('umount', made.folder('secret'));
      made.objects.setSecret('s', { password: 'two' });
      const path = join(made.folder('secret'), 'password');
      await waitFor('the new one', async () => (await readFile(path, 'utf8').catch(() => '')) === 'two');
      assert.equal((await statfs(made.folder('secret'))).type, tmpfs);
    });
  });

  describe('the files of a ConfigMap', () => {
    const pod = podWith([{ name: 'v', configMap: { name: 'c' } }]);

    test('that do not fit on the disk leave the old ones, and fit when there is room', async () => {
      await using folder = await temporaryFolder('volumes-small-');
      const small = join(folder.path, 'disk');
      await mkdir(small);
      await run('mount', '-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', small);
      await using _unmount = {
        async [Symbol.asyncDispose]() {
          await unmountBelow(folder.path);
        },
      };
      const events: string[] = [];
      await using made = await lab({
        rootDir: small,
        report: (_, { reason, message }) => events.push(`${reason}: ${message}`),
      });
      made.objects.setConfigMap('c', { a: 'old' });
      await untilReady(made.volumes, pod);
      const volume = join(small, 'pods/u1/volumes/kubernetes.io~configmap/v');
      const before = await readdir(volume);
      made.objects.setConfigMap('c', { a: 'x'.repeat(500_000) });
      await waitFor('the failure', () => events.length > 0);
      assert.match(
        events[0] ?? '',
        /^FailedMount: MountVolume\.SetUp failed for volume "v" : its files cannot be written, and stay as they were: no space is left for them on the disk or in the memory of the node \(ENOSPC\)$/,
      );
      assert.equal(await readFile(join(volume, 'a'), 'utf8'), 'old');
      // it is tried on, and what did not fit goes each time
      await waitFor('the files as before', async () => isDeepStrictEqual(await readdir(volume), before));
      await run('mount', '-o', 'remount,size=8m', small);
      await waitFor('the new ones', async () => (await stat(join(volume, 'a'))).size === 500_000);
    });

    test('as part of a volume stay as they were when it was mounted', async () => {
      await using made = await lab();
      made.objects.setConfigMap('c', { a: '1' });
      const part = podWith(
        [{ name: 'v', configMap: { name: 'c' } }],
        [{ name: 'v', mountPath: '/a', subPath: 'a' }],
      );
      await untilReady(made.volumes, part);
      const [mount] = await made.volumes.mountsOf(part, 'main');
      assert.equal(mount?.isReadOnly, true);
      assert.equal(await readFile(mount?.hostPath ?? '', 'utf8'), '1');
      made.objects.setConfigMap('c', { a: '2' });
      const file = join(made.folder('configmap'), 'a');
      await waitFor('the new one', async () => (await readFile(file, 'utf8')) === '2');
      assert.equal(await readFile(mount?.hostPath ?? '', 'utf8'), '1');
      const [again] = await made.volumes.mountsOf(part, 'main');
      assert.equal(await readFile(again?.hostPath ?? '', 'utf8'), '2');
      await made.volumes.release(podId);
      assert.deepEqual(await readdir(made.podFolder), []);
    });
  });

  test('links that are exchanged while a part is mounted lead nowhere else', async () => {
    await using made = await lab();
    made.objects.setConfigMap('c', { 'a.conf': 'inside' });
    const pod = podWith(
      [{ name: 'v', configMap: { name: 'c' } }],
      [{ name: 'v', mountPath: '/a', subPath: 'a.conf' }],
    );
    await untilReady(made.volumes, pod);
    const link = join(made.folder('configmap'), 'a.conf');
    let isDone = false;
    let swaps = 0;
    const swapping = (async () => {
      for (; !isDone && swaps < 10_000; swaps++) {
        await symlink(swaps % 2 === 0 ? '/etc/passwd' : '..data/a.conf', `${link}.new`);
        await rename(`${link}.new`, link);
      }
    })();
    const outcomes = { mounted: 0, refused: 0 };
    const endMs = performance.now() + 10_000;
    while (swaps < 10_000 && performance.now() < endMs) {
      try {
        const [mount] = await made.volumes.mountsOf(pod, 'main');
        const text = await readFile(mount?.hostPath ?? '', 'utf8').catch(() => '');
        assert.ok(['inside', ''].includes(text), text);
        outcomes.mounted += 1;
      } catch (error) {
        assert.match(String(error), /failed to prepare subPath/);
        outcomes.refused += 1;
      }
    }
    isDone = true;
    await swapping;
    assert.ok(outcomes.mounted > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
    made.objects.setConfigMap('c', { 'a.conf': 'after' });
    await waitFor('the new ones', async () => (await readFile(link, 'utf8')) === 'after');
    assert.equal(await readlink(link), '..data/a.conf');
  });

  test('what is mounted in a volume keeps its group', async () => {
    await using made = await lab();
    const base = join(made.rootDir, 'base');
    await mkdir(join(base, 'folder'), { recursive: true });
    await mkdir(join(base, 'plain'));
    const [file, other] = [join(base, 'file'), join(made.rootDir, 'other')];
    for (const path of [file, other]) await writeFile(path, '', { mode: 0o600 });
    await run('mount', '-t', 'tmpfs', '-o', 'mode=700', 'tmpfs', join(base, 'folder'));
    await run('mount', '--bind', other, file);
    const access = { group: 4321, isReadOnly: false, isOnRootMismatch: false };
    await giveToGroup(base, access, { cancel: new AbortController().signal });
    const groupOf = async (path: string) => (await stat(path)).gid;
    assert.deepEqual(
      await Promise.all([join(base, 'folder'), file, join(base, 'plain'), base].map(groupOf)),
      [0, 0, 4321, 4321],
    );
  });

  test('a pipe of the node holds up nobody, as a volume and as a part of one', async () => {
    await using made = await lab();
    const path = join(made.rootDir, 'node');
    await mkdir(path);
    await run('mkfifo', join(path, 'pipe'));
    const pod = podWith(
      [
        { name: 'pipe', hostPath: { path: join(path, 'pipe') } },
        { name: 'folder', hostPath: { path } },
      ],
      [
        { name: 'pipe', mountPath: '/pipe' },
        { name: 'folder', mountPath: '/part', subPath: 'pipe' },
      ],
    );
    await untilReady(made.volumes, pod);
    const mounts = await made.volumes.mountsOf(pod, 'main');
    assert.ok((await stat(mounts[1]?.hostPath ?? '')).isFIFO());
    const asFile = podWith([{ name: 'v', hostPath: { path: join(path, 'pipe'), type: 'File' } }]);
    const state = await untilFailed(made.volumes, { ...asFile, metadata: { uid: 'u2' } });
    assert.match(state.message, /hostPath type check failed/);
  });

  test('a writer that is killed leaves what the next one sets right', async () => {
    await using folder = await temporaryFolder('volumes-killed-');
    await chmod(folder.path, 0o777);
    const source = new URL('../../../src/agent/volumes/', import.meta.url).href;
    const program = `
      import { writeFiles } from '${source}atomic/write.ts';
      import { Folder } from '${source}folder.ts';
      const folder = await Folder.at(process.argv[1]);
      for (let round = 0; ; round++) {
        const files = Array.from({ length: 50 }, (_, i) => ['d' + (i % 7) + '/f' + i, { bytes: Buffer.from(String(round)), mode: 0o644 }]);
        await writeFiles(folder, new Map(files), { nowMs: Date.now(), group: undefined });
        if (round === 0) process.stdout.write('going');
      }`;
    for (let round = 0; round < 5; round++) {
      const writer = spawn(process.execPath, ['--input-type=module', '-e', program, '--', folder.path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => writer.once('exit', resolve));
      await new Promise((resolve) => writer.stdout.once('data', resolve));
      await new Promise((resolve) => setTimeout(resolve, 20 + 13 * round));
      writer.kill('SIGKILL');
      await ended;
      const data = await readlink(join(folder.path, '..data'));
      const texts = new Set<string>();
      for (const name of await readdir(join(folder.path, data)))
        for (const file of await readdir(join(folder.path, data, name)))
          texts.add(await readFile(join(folder.path, data, name, file), 'utf8'));
      assert.equal(texts.size, 1, 'files of two versions');
    }
    await using opened = await Folder.at(folder.path);
    const files = new Map([['only', { bytes: Buffer.from('x'), mode: 0o644 }]]);
    await writeFiles(opened, files, { nowMs: Date.now(), group: undefined });
    const left = (await readdir(folder.path)).sort();
    assert.equal(left.length, 3, left.join(' '));
    assert.deepEqual(left.slice(1), ['..data', 'only']);
  });
}
