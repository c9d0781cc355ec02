import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import {
  containerLogPath,
  findLoggedAttempts,
  linkLog,
  logLinkName,
  makeContainerLogFolder,
  parsePodLogFolder,
  placeOfLog,
  podLogFolder,
  pruneLogLinks,
  removeLogsBefore,
  removePodLogs,
  unlinkLog,
} from '../../../../../src/agent/pods/logs/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';

const pod = { namespace: 'default', name: 'web', uid: 'u-1' };

describe('where logs are', () => {
  test('is laid as by the reference', () => {
    assert.equal(podLogFolder('/logs', pod), '/logs/default_web_u-1');
    assert.equal(containerLogPath('/logs', pod, 'main', 3), '/logs/default_web_u-1/main/3.log');
    assert.deepEqual(parsePodLogFolder('default_web_u-1'), pod);
    for (const other of ['default_web', 'a_b_c_d', 'x', '_web_u'])
      assert.equal(parsePodLogFolder(other), undefined);
  });

  test('is open to collectors that are not root, whatever the umask', async () => {
    await using folder = await temporaryFolder();
    const umask = process.umask(0o077);
    try {
      const made = await makeContainerLogFolder(join(folder.path, 'new'), pod, 'main');
      for (let path = made; path !== folder.path; path = dirname(path))
        assert.equal((await lstat(path)).mode & 0o777, 0o755, path);
      assert.equal((await lstat(folder.path)).mode & 0o777, 0o700, 'what was there stays');
    } finally {
      process.umask(umask);
    }
  });

  test('leads nowhere else', () => {
    for (const uid of ['../../etc', 'a/b', 'a\0b', 'x'.repeat(300)])
      assert.throws(() => podLogFolder('/logs', { ...pod, uid }), /cannot be the name of a folder of logs/);
    for (const name of ['..', '.', '', 'a/..']) assert.throws(() => containerLogPath('/logs', pod, name, 0));
    for (const path of [
      '/logs/../etc/0.log',
      '/logs/a/../0.log',
      '/logs/a/b/c/0.log',
      '/logs/a/b/x.log',
      '/etc/0.log',
    ])
      assert.equal(placeOfLog('/logs', path), undefined, path);
    assert.deepEqual(placeOfLog('/logs', '/logs/a/b/0.log'), { folders: ['a', 'b'], log: '0.log' });
  });

  test('tells how often a container has run, by rotated logs too', async () => {
    await using folder = await temporaryFolder();
    const logs = {
      a: ['0.log', '1.log', '2.log.20260101-000000.gz'],
      b: ['145.log.log.rotated', '12log.rotated', 'c.log', '92233720368547758089.log', '7.logs'],
      c: ['other'],
      stranger: ['3.log'],
    };
    for (const [name, files] of Object.entries(logs)) {
      const at = await makeContainerLogFolder(folder.path, pod, name);
      for (const file of files) await writeFile(join(at, file), '');
    }
    const found = await findLoggedAttempts(folder.path, pod, ['a', 'b', 'c', 'd']);
    assert.deepEqual(Object.fromEntries(found), { a: 2, b: 145 });
    assert.equal((await findLoggedAttempts(join(folder.path, 'none'), pod, ['a'])).size, 0);
  });

  test('goes with the attempts that are gone, and nothing else', async () => {
    await using folder = await temporaryFolder();
    const at = await makeContainerLogFolder(folder.path, pod, 'a');
    const files = [
      '0.log',
      '2.log',
      '2.log.20260101-000000.gz',
      '3.log',
      '3.log.20260101-000000',
      'notes',
      '1.logs',
    ];
    for (const file of files) await writeFile(join(at, file), '');
    await symlink('/etc/hostname', join(at, '1.log'));
    await removeLogsBefore(folder.path, pod, 'a', 3);
    assert.deepEqual((await readdir(at)).sort(), ['1.logs', '3.log', '3.log.20260101-000000', 'notes']);
    await removeLogsBefore(folder.path, pod, 'b', 3);
    await symlink(at, join(folder.path, 'default_web_u-1', 'linked'));
    await assert.rejects(removeLogsBefore(folder.path, pod, 'linked', 9));
  });

  test('is made with its parents', async () => {
    await using folder = await temporaryFolder();
    const made = await makeContainerLogFolder(join(folder.path, 'logs'), pod, 'main');
    assert.equal(made, join(folder.path, 'logs/default_web_u-1/main'));
  });

  test('is removed whole, without following links', async () => {
    await using folder = await temporaryFolder();
    const [logs, other] = [join(folder.path, 'logs'), join(folder.path, 'other')];
    await mkdir(join(logs, 'default_web_u-1/main'), { recursive: true });
    await mkdir(other);
    await writeFile(join(other, 'precious'), '');
    await symlink(other, join(logs, 'default_web_u-1/main/link'));
    await removePodLogs(logs, pod);
    await removePodLogs(logs, pod);
    assert.deepEqual(await readdir(logs), []);
    assert.deepEqual(await readdir(other), ['precious']);
  });
});

describe('links to logs', () => {
  const linked = { namespace: 'default', name: 'web', container: 'main', containerId: 'abc' };

  test('are named by pod, container and id, and cut', () => {
    assert.equal(logLinkName(linked), 'web_default_main-abc.log');
    const long = logLinkName({ ...linked, name: 'n'.repeat(253) });
    assert.equal(long.length, 255);
    assert.ok(long.endsWith('.log'));
  });

  test('are made, led elsewhere, removed', async () => {
    await using folder = await temporaryFolder();
    const links = join(folder.path, 'containers');
    const link = join(links, 'web_default_main-abc.log');
    await linkLog(links, linked, '/logs/a/main/0.log');
    await linkLog(links, linked, '/logs/a/main/1.log');
    assert.equal(await readlink(link), '/logs/a/main/1.log');
    await unlinkLog(links, linked);
    await unlinkLog(links, linked);
    assert.deepEqual(await readdir(links), []);
  });

  test('that lead to what is gone are pruned, those of others are not', async () => {
    await using folder = await temporaryFolder();
    await using logs = await temporaryFolder();
    const known = { ...linked, containerId: 'known' };
    const other = { ...linked, containerId: 'of-another-agent' };
    await writeFile(join(logs.path, 'other.log'), '');
    await linkLog(folder.path, linked, join(logs.path, 'gone.log'));
    await linkLog(folder.path, known, join(logs.path, 'not-there-yet.log'));
    await linkLog(folder.path, other, join(logs.path, 'other.log'));
    await symlink('/elsewhere/0.log', join(folder.path, 'x.log'));
    await writeFile(join(folder.path, 'file.log'), '');
    const own = { ...linked, containerId: 'own' };
    const ownLog = join(logs.path, 'default_web_mine', 'main', '0.log');
    await mkdir(dirname(ownLog), { recursive: true });
    await writeFile(ownLog, '');
    await linkLog(folder.path, own, ownLog);
    const options = {
      linksDir: folder.path,
      logsDir: logs.path,
      isOwn: async (uid: string) => uid === 'mine',
    };
    const removed = await pruneLogLinks({ ...options, isKnown: (name) => name === logLinkName(known) });
    assert.deepEqual(removed.sort(), ['web_default_main-abc.log', logLinkName(own)]);
    const nowhere = { ...options, linksDir: join(folder.path, 'none'), isKnown: () => false };
    assert.deepEqual(await pruneLogLinks(nowhere), []);
    assert.ok((await lstat(join(folder.path, 'x.log'))).isSymbolicLink());
    assert.equal((await readdir(folder.path)).length, 4);
  });
});
