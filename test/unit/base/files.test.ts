import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  ExitError,
  ensurePrivateFolder,
  readRegularFile,
  SharedFolderSync,
  writeFileAtomic,
} from '../../../src/base/index.ts';
import { runSuccessfully, startProcess, temporaryFolder } from '../../support/index.ts';

const program = (name: string) => join(import.meta.dirname, 'programs', name);

describe('making names durable for many', () => {
  test('who comes during a sync shares the next one, also after one that failed', async () => {
    const begun: PromiseWithResolvers<void>[] = [];
    const { sync } = new SharedFolderSync(() => {
      const next = Promise.withResolvers<void>();
      begun.push(next);
      return next.promise;
    });
    const first = sync('/folder');
    let settled = 0;
    const others = [sync('/folder'), sync('/folder')].map((each) => each.then(() => (settled += 1)));
    assert.equal(begun.length, 1);
    begun[0]?.reject(new Error('the disk is gone'));
    await assert.rejects(first, /the disk is gone/);
    await setImmediate();
    assert.equal(begun.length, 2);
    assert.equal(settled, 0, 'the first began before their names were there');
    begun[1]?.resolve();
    assert.deepEqual(await Promise.all(others), [1, 2]);
    void sync('/folder');
    assert.equal(begun.length, 3);
  });
});

describe('writing a file atomically', () => {
  test('leaves exactly the new content, private unless told otherwise, and nothing beside it', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'state');
    await writeFileAtomic(path, 'one');
    await writeFileAtomic(path, new TextEncoder().encode('two'));
    assert.equal(await readFile(path, 'utf8'), 'two');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await writeFileAtomic(path, 'three', { mode: 0o666 });
    assert.equal((await stat(path)).mode & 0o777, 0o666, 'the umask takes nothing away');
    assert.deepEqual(await readdir(folder.path), ['state']);
  });

  test('takes the place of a symbolic link instead of writing through it', async () => {
    await using folder = await temporaryFolder();
    const [target, link] = [join(folder.path, 'target'), join(folder.path, 'link')];
    await writeFile(target, 'of others');
    await symlink(target, link);
    await writeFileAtomic(link, 'ours');
    assert.equal(await readFile(target, 'utf8'), 'of others');
    assert.equal(await readFile(link, 'utf8'), 'ours');
  });

  test('leaves nothing behind when it fails', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'taken');
    await mkdir(path);
    await assert.rejects(writeFileAtomic(path, 'x'), { code: 'EISDIR' });
    await assert.rejects(writeFileAtomic(join(folder.path, 'missing', 'x'), 'x'), { code: 'ENOENT' });
    assert.deepEqual(await readdir(folder.path), ['taken']);
  });

  test('works for the longest file name there is', async () => {
    await using folder = await temporaryFolder();
    for (const name of ['n'.repeat(255), 'ü'.repeat(127)]) {
      await writeFileAtomic(join(folder.path, name), 'x');
      assert.equal(await readFile(join(folder.path, name), 'utf8'), 'x');
    }
  });

  test('many at once: one of them wins whole', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'state');
    const contents = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(100_000));
    await Promise.all(contents.map((content) => writeFileAtomic(path, content)));
    assert.ok(contents.includes(await readFile(path, 'utf8')));
    assert.deepEqual(await readdir(folder.path), ['state']);
  });

  test('killed in the middle, again and again, leaves the old content or the new one', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'state');
    for (let round = 0; round < 5; round++) {
      await using writer = await startProcess(process.execPath, [program('write-forever.ts'), path]);
      await writer.waitForOutput(/writing/);
      await writer.kill9();
      const content = await readFile(path, 'utf8');
      assert.equal(content.length, 256 * 1024);
      assert.equal(content, (content[0] ?? '').repeat(content.length));
    }
  });
});

describe('reading a file that somebody else has put there', () => {
  test('gives its bytes up to the limit, and an error beyond it', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'given');
    await writeFile(path, 'x'.repeat(1000));
    assert.equal((await readRegularFile(path, { limitBytes: 1000 })).length, 1000);
    await assert.rejects(readRegularFile(path, { limitBytes: 999 }), /given is longer than 999 bytes/);
    await truncate(path, 2 ** 40);
    await assert.rejects(readRegularFile(path, { limitBytes: 2 ** 20 }), /longer than/);
    await truncate(path, 0);
    assert.equal((await readRegularFile(path, { limitBytes: 0 })).length, 0);
  });

  test('holds the limit for files that do not tell their size', async () => {
    const status = await readRegularFile('/proc/self/status', { limitBytes: 100_000 });
    assert.match(status.toString(), /^Pid:/m);
    await assert.rejects(readRegularFile('/proc/self/status', { limitBytes: 10 }), /longer than 10 bytes/);
  });

  test('never waits for the other end of a FIFO', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'fifo');
    await runSuccessfully('mkfifo', [path]);
    const all = Array.from({ length: 8 }, () => readRegularFile(path, { limitBytes: 10 }));
    for (const result of await Promise.allSettled(all)) {
      assert.equal(result.status, 'rejected');
      assert.match(String(result.reason), /fifo is not a regular file/);
    }
  });

  test('takes no folder, device or socket for a file', async () => {
    await using folder = await temporaryFolder();
    const socket = join(folder.path, 'socket');
    const server = createServer().listen(socket);
    await once(server, 'listening');
    try {
      for (const path of [folder.path, '/dev/zero', socket]) {
        await assert.rejects(readRegularFile(path, { limitBytes: 10 }), /is not a regular file/);
      }
    } finally {
      server.close();
    }
  });

  test('follows a symbolic link only where it may', async () => {
    await using folder = await temporaryFolder();
    const [target, link] = [join(folder.path, 'target'), join(folder.path, 'link')];
    await writeFile(target, 'x');
    await symlink(target, link);
    assert.equal(String(await readRegularFile(link, { limitBytes: 10 })), 'x');
    const refused = readRegularFile(link, { limitBytes: 10, noFollow: true });
    await assert.rejects(refused, /link is a symbolic link, which is not followed here/);
    assert.equal(String(await readRegularFile(target, { limitBytes: 10, noFollow: true })), 'x');
  });

  test('closes what it has opened, whatever comes of it', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'given');
    await writeFile(path, 'x'.repeat(300_000));
    const before = (await readdir('/proc/self/fd')).length;
    for (let round = 0; round < 20; round++) {
      await readRegularFile(path, { limitBytes: 300_000 });
      await assert.rejects(readRegularFile(path, { limitBytes: 70_000 }));
      await assert.rejects(readRegularFile('/proc/self/status', { limitBytes: 1 }));
      await assert.rejects(readRegularFile(folder.path, { limitBytes: 1 }));
    }
    const after = (await readdir('/proc/self/fd')).length;
    assert.ok(after - before < 10, `${after - before} descriptors are left open`);
  });
});

describe('a folder to write in', () => {
  test('is made with all that leads to it, private, and left alone when it is there', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a', 'b');
    await ensurePrivateFolder(path);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
    await chmod(path, 0o750);
    await ensurePrivateFolder(path);
    assert.equal((await stat(path)).mode & 0o777, 0o750);
    assert.deepEqual(await readdir(path), []);
  });

  test('a file in the way is told', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    for (const path of [file, join(file, 'below')]) {
      await assert.rejects(ensurePrivateFolder(path), (error) => {
        assert.ok(error instanceof ExitError);
        assert.equal(error.exitCode, 6);
        assert.equal(error.message, `cannot use ${path}: a file is in the way of that folder`);
        return true;
      });
    }
  });

  test('one that everybody can write in, or another user owns, is refused and left as it is', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'state');
    for (const mode of [0o777, 0o1777]) {
      await mkdir(path);
      await chmod(path, mode);
      await assert.rejects(ensurePrivateFolder(path), (error) => {
        assert.ok(error instanceof ExitError);
        assert.equal(error.exitCode, 6);
        assert.match(
          error.message,
          /mode [01]777: everybody could put keys and accounts there; .* chmod o-w /,
        );
        return true;
      });
      assert.deepEqual(await readdir(path), []);
      await rm(path, { recursive: true });
    }
    await mkdir(path, { mode: 0o700 });
    if (process.getuid?.() !== 0) return; // only root can give a folder away
    await chown(path, 65534, 65534);
    await assert.rejects(ensurePrivateFolder(path), /belongs to user 65534 .* that user could .* chown 0 /);
  });

  test('what nobody can write, root neither, is told', async () => {
    await assert.rejects(
      ensurePrivateFolder('/proc/nodeward'),
      /^ExitError: cannot write in \/proc\/nodeward: /,
    );
  });

  test('an ordinary user is told whose folder it is', async () => {
    // where every user can look; TMPDIR may be private to this one
    await using folder = await temporaryFolder('nodeward-', '/var/tmp');
    const locked = join(folder.path, 'locked');
    await mkdir(locked, { mode: 0o500 });
    const isRoot = process.getuid?.() === 0;
    await chmod(folder.path, 0o755);
    const user = isRoot ? 65534 : process.getuid?.();
    const argv = [program('ensure-folder.ts'), join(locked, 'state'), isRoot ? String(user) : ''];
    const said = await runSuccessfully(process.execPath, argv);
    assert.ok(
      said.startsWith(
        `cannot write in ${locked}/state: ${locked} belongs to user ${process.getuid?.()} with mode 0500, `,
      ),
    );
    assert.match(said, new RegExp(`this process runs as user ${user}; choose another folder`));
  });
});
