import assert from 'node:assert/strict';
import { chmod, mkdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createCertificateCheck } from '../../../../src/agent/doctor/checks/certificates.ts';
import { createDiskChecks } from '../../../../src/agent/doctor/checks/disks.ts';
import { createFolderChecks } from '../../../../src/agent/doctor/checks/folders.ts';
import { createLeftoverChecks } from '../../../../src/agent/doctor/checks/leftovers.ts';
import { FullDisks } from '../../../../src/agent/doctor/full-disks.ts';
import type { Host } from '../../../../src/agent/doctor/host.ts';
import { inspectPath, inspectPathInChild } from '../../../../src/agent/doctor/inspect-path.ts';
import type { Check } from '../../../../src/agent/doctor/types.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { createAuthority } from '../../../../src/base/x509/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { makeMachine, newYear } from './machine.ts';

const rootDir = '/var/lib/nodeward';
const folders = createFolderChecks({ rootDir, certDir: `${rootDir}/pki` });
const signal = new AbortController().signal;

describe('folders', () => {
  test('what others can write in or read is told', async () => {
    await using machine = await makeMachine({
      files: {
        'var/lib/nodeward/pki/a.key': 'secret',
        'var/lib/nodeward/checkpoints/x.tar': '',
        'var/lib/nodeward/plugins_registry/a.sock': '',
      },
      user: process.getuid?.() ?? 0,
    });
    const at = (name: string) => join(machine.root, rootDir, name);
    await chmod(at('.'), 0o700);
    await chmod(at('pki'), 0o777);
    await chmod(at('checkpoints'), 0o755);
    await chmod(at('pki/a.key'), 0o640);
    await chmod(at('plugins_registry'), 0o777);
    assert.equal((await machine.run(folders, 'root-dir')).verdict, 'ok');
    assert.equal((await machine.run(folders, 'cert-dir')).verdict, 'failed');
    assert.equal((await machine.run(folders, 'checkpoint-dir')).verdict, 'warning');
    assert.equal((await machine.run(folders, 'plugins-dir')).verdict, 'failed');
    await chmod(at('plugins_registry'), 0o750);
    assert.equal((await machine.run(folders, 'plugins-dir')).verdict, 'ok');
    const secrets = await machine.run(folders, 'secret-files');
    assert.equal(secrets.verdict, 'failed');
    assert.match(secrets.found, /a\.key \(file, 640\)$/);
    await chmod(at('pki'), 0o770);
    await chmod(at('pki/a.key'), 0o600);
    assert.equal((await machine.run(folders, 'cert-dir')).verdict, 'warning');
    assert.equal((await machine.run(folders, 'secret-files')).verdict, 'ok');
  });

  test('what is not there yet will be made', async () => {
    await using machine = await makeMachine();
    for (const { id } of folders) assert.equal((await machine.run(folders, id)).verdict, 'ok', id);
  });
});

describe('disks', () => {
  const checks = createDiskChecks(rootDir, rootDir, async () => {
    throw new Error('nobody is to ask');
  });

  async function onDisk(mountinfo: string, space?: Partial<{ freeBytes: number; freeInodes: number }>) {
    await using machine = await makeMachine({ files: { 'proc/self/mountinfo': mountinfo } });
    const look: Host['inspectPath'] = async () => ({
      found: {
        ...{
          name: rootDir,
          path: rootDir,
          realPath: rootDir,
          kind: 'folder',
          uid: 0,
          mode: 0o700,
          size: 0,
          mtimeMs: 0,
          dev: 1,
          ino: 2,
        },
        space: { totalBytes: 2 ** 40, freeBytes: 2 ** 39, inodes: 1e6, freeInodes: 1e6, ...space },
      },
    });
    const check = checks.find(({ id }) => id === 'root-dir-disk');
    assert.ok(check);
    return await check.run({ ...machine.host, inspectPath: look }, signal);
  }

  const ext4 = '22 1 8:1 / / rw - ext4 /dev/sda1 rw';
  const cases: [string, string, Parameters<typeof onDisk>][] = [
    ['ok', 'room', [ext4]],
    ['warning', 'little room', [ext4, { freeBytes: 2 ** 36 }]],
    ['failed', 'no room', [ext4, { freeBytes: 2 ** 20 }]],
    ['warning', 'few inodes', [ext4, { freeInodes: 20_000 }]],
    ['failed', 'no inodes', [ext4, { freeInodes: 5 }]],
    ['failed', 'read-only', ['22 1 8:1 / / ro - ext4 /dev/sda1 rw']],
    ['warning', 'of another machine', ['22 1 8:1 / / rw - nfs4 server:/x rw']],
    ['warning', 'in memory', [`${ext4}\n23 22 0:9 / /var/lib rw - tmpfs tmpfs rw`]],
    ['warning', 'of a container', ['22 1 8:1 / / rw - overlay overlay rw']],
  ];
  for (const [verdict, what, args] of cases)
    test(`${what}: ${verdict}`, async () => assert.equal((await onDisk(...args)).verdict, verdict));
});

describe('a disk that is full', () => {
  const checks = createDiskChecks('/var/lib/nodeward', '/var/log/pods', async () => {
    throw new Error('nobody is to ask');
  });
  const inPods = '/var/lib/nodeward/pods';
  const inLogs = '/var/log/pods';

  async function run(programs: Parameters<typeof makeMachine>[0]) {
    await using machine = await makeMachine({
      files: {
        [`${inPods.slice(1)}/u1/etc-hosts`]: 'x',
        [`${inPods.slice(1)}/u2/etc-hosts`]: 'x',
        [`${inLogs.slice(1)}/shop_web_u1/main/0.log`]: 'x',
      },
      ...programs,
    });
    const look: Host['inspectPath'] = async (what, cancel) => {
      const looked = await machine.host.inspectPath(what, cancel);
      const space = { totalBytes: 2 ** 40, freeBytes: 0, inodes: 1e6, freeInodes: 1e6 };
      return 'fault' in looked ? looked : { found: { ...looked.found, space } };
    };
    const check = checks.find(({ id }) => id === 'root-dir-disk');
    assert.ok(check);
    return await check.run({ ...machine.host, inspectPath: look }, signal);
  }

  test('says which pods fill it, with their volumes and logs', async () => {
    const { found } = await run({
      programs: {
        [`du -xsk -- ${inPods}`]: {
          code: 1,
          output: `du: cannot read x\n3072\t${inPods}/u1\n2048\t${inPods}/u2\n`,
        },
        [`du -xsk -- ${inLogs}`]: { output: `1048576\t${inLogs}/shop_web_u1\n` },
      },
    });
    assert.match(
      found,
      /; filled most by the pods shop\/web \(volumes 3\.0 MiB, logs 1\.0 GiB\), u2 \(volumes 2\.0 MiB, logs 0 B\)$/,
    );
  });

  test('is told without them where they cannot be measured', async () => {
    assert.match((await run({})).found, /inodes$/);
  });
});

describe('the disks that are full, for the explanation of a pod', () => {
  const room = { bsize: 4096, blocks: 2 ** 28, bavail: 2 ** 27, files: 1e6, ffree: 1e6 };
  const logsDir = '/var/log/pods';

  async function fullDisks(full: string[], hang = false) {
    const machine = await makeMachine({
      files: { 'var/lib/nodeward/pods/u1/x': 'x', 'var/log/pods/shop_web_u1/main/0.log': 'x' },
      programs: { [`du -xsk -- ${logsDir}`]: { output: `1048576\t${logsDir}/shop_web_u1\n` } },
    });
    const looks: string[] = [];
    const inspect: Host['inspectPath'] = async (what, cancel) => {
      looks.push(what.path);
      const looked = await machine.host.inspectPath(what, cancel);
      const space = { totalBytes: 2 ** 40, freeBytes: 0, inodes: 1e6, freeInodes: 1e6 };
      return 'fault' in looked ? looked : { found: { ...looked.found, space } };
    };
    const clock = createManualClock();
    const disks = new FullDisks({
      ...{ rootDir, podLogsDir: logsDir, runtimeFolder: () => undefined, clock, log: silentLogger() },
      host: { ...machine.host, inspectPath: inspect },
      statfs: (path) =>
        hang
          ? new Promise(() => undefined)
          : Promise.resolve({ ...room, ...(full.includes(path) ? { bavail: 0 } : {}) }),
    });
    return { disks, clock, looks, [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose]() };
  }

  test('are told with the pods that fill them, once for all folders on them', async () => {
    await using it = await fullDisks([rootDir, logsDir]);
    const [disk, ...others] = await it.disks.list();
    assert.deepEqual(others, []);
    assert.equal(disk?.what, 'disk of the root folder, disk of the logs of pods');
    assert.match(disk?.found ?? '', /^ext4 at \/: 0 B of .*; filled most by the pods shop\/web/);
    assert.match(disk?.advice ?? '', /^make room there/);
  });

  test('are found out once for all that ask at a time', async () => {
    await using it = await fullDisks([rootDir]);
    await Promise.all([it.disks.list(), it.disks.list()]);
    const { length } = it.looks;
    await it.disks.list();
    assert.equal(it.looks.length, length);
    await it.clock.advance(20_000);
    await it.disks.list();
    assert.equal(it.looks.length, length * 2);
  });

  test('are as they are now: one that has filled since, and none once there is room', async () => {
    const full: string[] = [];
    await using it = await fullDisks(full);
    assert.deepEqual(await it.disks.list(), []);
    full.push(rootDir);
    assert.equal((await it.disks.list())[0]?.what, 'disk of the root folder');
    full.push(logsDir);
    assert.match((await it.disks.list())[0]?.what ?? '', /, disk of the logs of pods$/);
    full.length = 0;
    assert.deepEqual(await it.disks.list(), []);
  });

  test('are none where there is room, and no file is looked at', async () => {
    await using it = await fullDisks([]);
    assert.deepEqual([await it.disks.list(), it.looks], [[], []]);
  });

  test('are not told while a disk hangs', async () => {
    await using it = await fullDisks([], true);
    const asked = it.disks.list();
    await it.clock.advance(2000);
    assert.deepEqual(await asked, []);
  });
});

describe('what is left over', () => {
  const nothing = { rootDir, process: () => undefined };
  const checks = (frozen = { containers: [], running: 0, inspected: 0 } as const): Check[] =>
    createLeftoverChecks({ ...nothing, frozen: async () => frozen });
  const old = new Date(newYear - 3600_000);
  const journal = (bootId: string) =>
    JSON.stringify({ namespace: 'shop', pod: 'web', container: 'main', id: 'c1', bootId });

  async function withDraft(content: string | undefined, age: Date) {
    const draft = 'var/lib/nodeward/checkpoints/.inflight-1';
    const machine = await makeMachine({ files: { [`${draft}/journal.json`]: content } });
    await mkdir(join(machine.root, draft), { recursive: true });
    await utimes(join(machine.root, draft), age, age);
    return machine;
  }

  test('a draft of this boot may mean a frozen container, of an earlier one only files', async () => {
    await using now = await withDraft(journal('boot-1'), old);
    const found = await now.run(checks(), 'checkpoint-drafts');
    assert.equal(found.verdict, 'failed');
    assert.match(found.found, /shop\/web\/main, which may be frozen/);
    await using before = await withDraft(journal('boot-0'), old);
    assert.equal((await before.run(checks(), 'checkpoint-drafts')).verdict, 'warning');
    await using begun = await withDraft(undefined, old);
    assert.equal((await begun.run(checks(), 'checkpoint-drafts')).verdict, 'warning');
  });

  test('a young draft may be under way', async () => {
    await using machine = await withDraft(journal('boot-1'), new Date(newYear - 1000));
    assert.equal((await machine.run(checks(), 'checkpoint-drafts')).verdict, 'ok');
  });

  test('a damaged journal that was kept is told until somebody has looked', async () => {
    const files = { 'var/lib/nodeward/checkpoints/damaged-journal-1.json': '{' };
    await using machine = await makeMachine({ files });
    assert.equal((await machine.run(checks(), 'checkpoint-drafts')).verdict, 'failed');
  });

  test('dumps are looked for where the runtime works; names that are not its own are left alone', async () => {
    await using machine = await makeMachine();
    const [dump, other] = ['run/work/ctrd-checkpoint42', 'run/work/ctrd-checkpoint-mine'];
    for (const name of [dump, other]) {
      await mkdir(join(machine.root, name), { recursive: true });
      await utimes(join(machine.root, name), old, old);
    }
    const env = new Map([['XDG_RUNTIME_DIR', '/run/work']]);
    const process = { pid: 7, name: 'containerd', env, socket: '/run/x.sock', users: [0] };
    const withProcess = createLeftoverChecks({
      rootDir,
      process: () => process,
      frozen: async () => ({ containers: [], running: 0, inspected: 0 }),
    });
    // its mount namespace cannot be read, so it is looked at through its own root
    const link: Host['link'] = (path) => (path === '/proc/7/ns/mnt' ? 'mnt:[3]' : machine.host.link(path));
    const check = withProcess.find(({ id }) => id === 'leftover-dumps');
    const found = await check?.run({ ...machine.host, link }, signal);
    assert.equal(found?.verdict, 'warning');
    assert.match(found?.found ?? '', /^\/run\/work\/ctrd-checkpoint42 \(the oldest of 1 hour ago\)$/);
  });

  test('frozen containers', async () => {
    await using machine = await makeMachine();
    const frozen = async (containers: { name: string; id: string }[], running: number, seen: number) =>
      (
        await machine.run(
          createLeftoverChecks({
            ...nothing,
            frozen: async () => ({ containers, running, inspected: seen }),
          }),
          'frozen-containers',
        )
      ).verdict;
    assert.equal(await frozen([{ name: 'a/b/c', id: '1' }], 3, 3), 'warning');
    assert.equal(await frozen([], 3, 3), 'ok');
    assert.equal(await frozen([], 0, 0), 'ok');
    assert.equal(await frozen([], 3, 0), 'not-applicable');
  });
});

describe('certificates', () => {
  const dayMs = 24 * 3600_000;
  test('one that has expired, ends soon, or is not valid yet', async () => {
    const madeMs = Date.now();
    const { cert } = await createAuthority('test', 100 * dayMs, madeMs);
    const verdictAt = async (nowMs: number) => {
      await using machine = await makeMachine({ files: { 'pki/a.crt': cert }, nowMs });
      return (await machine.run([createCertificateCheck(['/pki', '/none'], [])], 'certificates')).verdict;
    };
    assert.equal(await verdictAt(madeMs + dayMs), 'ok');
    assert.equal(await verdictAt(madeMs + 94 * dayMs), 'warning');
    assert.equal(await verdictAt(madeMs + 101 * dayMs), 'failed');
    assert.equal(await verdictAt(madeMs - 10 * dayMs), 'failed');
  });

  test('what is none, and a file that the configuration names', async () => {
    await using machine = await makeMachine({ files: { 'etc/tls/own.pem': 'nonsense' } });
    const found = await machine.run([createCertificateCheck([], ['/etc/tls/own.pem'])], 'certificates');
    assert.equal(found.verdict, 'failed');
    assert.match(found.found, /^\/etc\/tls\/own\.pem cannot be read/);
  });
});

describe('a look', () => {
  test('tells the same from a child as from here', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'below'));
    const what = { path: folder.path, entries: 10, textOf: ['.json'], space: true };
    const [here, apart] = [inspectPath(what), await inspectPathInChild(what, signal)];
    assert.ok('found' in here && 'found' in apart);
    assert.deepEqual({ ...apart.found, space: undefined }, { ...here.found, space: undefined });
    assert.equal(apart.found.space?.totalBytes, here.found.space?.totalBytes);
    assert.deepEqual(await inspectPathInChild({ path: join(folder.path, 'none') }, signal), {
      fault: 'ENOENT',
    });
  });

  test('is given up when its time is over', async () => {
    const stop = new AbortController();
    const looking = inspectPathInChild({ path: '/' }, stop.signal);
    stop.abort(new Error('too long'));
    await assert.rejects(looking, /too long/);
  });
});
