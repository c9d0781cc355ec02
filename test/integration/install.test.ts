/** `scripts/install`: what it puts where, twice, over an operator's files, and away again. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { ProcessIdentity } from '../../src/agent/lock/identity.ts';
import { createProcessProbe } from '../../src/agent/lock/identity.ts';
import { writeRecord } from '../../src/agent/lock/record.ts';
import { brokenLinks, runCommand, runSuccessfully, temporaryFolder } from '../support/index.ts';
import { ensureBuilt, runInstall } from './installation.ts';
import { repository } from './lab/index.ts';

before(ensureBuilt);

async function install(argv: readonly string[], destination?: string): Promise<string> {
  const result = await runInstall(argv, destination);
  assert.equal(result.code, 0, result.stderr);
  return result.stderr;
}

/** Everything below a folder but the program's own files. */
async function listing(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true });
  return found.filter((path) => !path.includes('/dist/') && !/\.(md|txt)$/.test(path)).sort();
}

async function filesBelow(folder: string): Promise<string[]> {
  const text = await runSuccessfully('find', [folder, '-not', '-type', 'd', '-printf', '%P\\n']);
  return text
    .split('\n')
    .filter((path) => path !== '')
    .sort();
}

describe('scripts/install', () => {
  test('into a prefix: the command runs from there, and from where it is moved and linked to', async () => {
    await using folder = await temporaryFolder('install-');
    const prefix = join(folder.path, 'first');
    await install(['--prefix', prefix]);
    const version = await runSuccessfully(join(prefix, 'bin/nodeward'), ['version'], { env: {} });
    assert.match(version, /^nodeward \d+\.\d+\.\d+/);
    const moved = join(folder.path, 'moved');
    await cp(prefix, moved, { recursive: true });
    await rm(prefix, { recursive: true });
    await symlink(join(moved, 'bin/nodeward'), join(folder.path, 'link'));
    const env = { PATH: '/usr/bin:/bin' };
    assert.equal(await runSuccessfully(join(folder.path, 'link'), ['version'], { env, cwd: '/' }), version);
    const wrong = await runCommand(join(folder.path, 'link'), ['agent', '--port', 'a b'], { env });
    assert.equal(wrong.code, 2, 'arguments and exit code go through');
  });

  test('with DESTDIR: a tree for a package, in which all paths are those of later', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    const found = await listing(folder.path);
    for (const path of [
      'etc/nodeward/agent.env',
      'etc/nodeward/config.d',
      'etc/nodeward/config.yaml',
      'usr/bin/nodeward',
      'usr/lib/nodeward/bin/node',
      'usr/lib/nodeward/dist',
      'usr/lib/nodeward/package.json',
      'usr/lib/systemd/system/nodeward.service',
      'usr/lib/systemd/system/nodeward.service.d/pods.conf',
      'usr/share/doc/nodeward/LICENSE',
      'usr/share/bash-completion/completions/nodeward',
      'usr/share/doc/nodeward/drop-ins/kubelet-paths.conf',
      'usr/share/man/man1/nodeward.1',
      'usr/share/man/man1/nodeward-checkpoint.1',
      'usr/share/zsh/vendor-completions/_nodeward',
    ]) {
      assert.ok(found.includes(path), `${path} in ${found.join(' ')}`);
    }
    const unit = await readFile(join(folder.path, 'usr/lib/systemd/system/nodeward.service'), 'utf8');
    assert.equal(unit, await readFile(join(repository, 'systemd/nodeward.service'), 'utf8'));
    for (const path of found) {
      const { mode, uid } = await lstat(join(folder.path, path));
      assert.equal(mode & 0o022, 0, `${path} is writable by others`);
      assert.equal(mode & 0o444, 0o444, `${path} is not readable`);
      assert.equal(uid, process.getuid?.());
    }
  });

  test('the installed pages have links that work, and one file with the licences of others', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    const docs = join(folder.path, 'usr/share/doc/nodeward');
    assert.deepEqual(await brokenLinks(docs), []);
    const found = await readdir(docs, { recursive: true });
    for (const path of ['README.md', 'docs/README.md', 'deploy/observability/alert-rules.yml']) {
      assert.ok(found.includes(path), path);
    }
    assert.deepEqual(
      found.filter((path) => path.includes('LEGAL')),
      [],
    );
    assert.match(await readFile(join(docs, 'THIRD-PARTY.txt'), 'utf8'), /licen[cs]e[\s\S]*Copyright/i);
  });

  test('--without-pods leaves out the rights for pods, and takes them away again', async () => {
    await using folder = await temporaryFolder('install-');
    const units = join(folder.path, 'usr/lib/systemd/system');
    assert.match(await install(['--without-pods'], folder.path), /pods\.conf: the service runs no pods/);
    assert.deepEqual(await readdir(units), ['nodeward.service']);
    await install([], folder.path);
    await writeFile(join(units, 'nodeward.service.d/mine.conf'), '');
    await install(['--without-pods'], folder.path);
    assert.deepEqual(await readdir(join(units, 'nodeward.service.d')), ['mine.conf']);
  });

  test('another prefix is written into the unit', async () => {
    await using folder = await temporaryFolder('install-');
    const unitDir = '/etc/systemd/system';
    await install(['--prefix=/opt/nodeward', '--unit-dir', unitDir, '--etc-dir=/srv/conf'], folder.path);
    const unit = await readFile(join(folder.path, unitDir, 'nodeward.service'), 'utf8');
    assert.match(
      unit,
      /^ExecStart=\/opt\/nodeward\/lib\/nodeward\/bin\/node (--\S+ )+\/opt\/nodeward\/lib\/nodeward\/dist\/main\.js agent --config \/srv\/conf\/config\.yaml --config-dir \/srv\/conf\/config\.d \$NODEWARD_JOIN_FLAGS \$NODEWARD_FLAGS$/m,
    );
    assert.match(unit, /^EnvironmentFile=-\/srv\/conf\/agent\.env$/m);
    const command = await readFile(join(folder.path, 'opt/nodeward/bin/nodeward'), 'utf8');
    assert.match(command, /^export NODEWARD_ETC_DIR="\$\{NODEWARD_ETC_DIR:-\/srv\/conf\}"$/m);
    assert.doesNotMatch(unit, /\/usr\/(lib|share)/);
    assert.ok(existsSync(join(folder.path, 'srv/conf/config.yaml')));
  });

  test('a second time changes nothing, keeps a configuration and clears up after a first that broke off', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    const found = await listing(folder.path);
    const config = join(folder.path, 'etc/nodeward/config.yaml');
    await writeFile(config, '# mine\n');
    await mkdir(join(folder.path, 'usr/lib/nodeward.new.1/bin'), { recursive: true });
    await mkdir(join(folder.path, 'usr/lib/nodeward.old.1'), { recursive: true });
    await writeFile(join(folder.path, 'usr/lib/nodeward/dist/chunk-old.js'), '');
    assert.match(await install([], folder.path), /kept .*config\.yaml as it is/);
    assert.deepEqual(await listing(folder.path), found);
    assert.equal(await readFile(config, 'utf8'), '# mine\n');
    assert.equal(existsSync(join(folder.path, 'usr/lib/nodeward/dist/chunk-old.js')), false);

    await rm(config);
    await symlink('/nowhere/config.yaml', config);
    await install([], folder.path);
    assert.ok((await lstat(config)).isSymbolicLink(), "a link of the operator's stays, wherever it points");
  });

  test('--uninstall takes everything away but configuration, and may be run again', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    await install(['--uninstall'], folder.path);
    assert.ok(!existsSync(join(folder.path, 'usr/lib/systemd/system/nodeward.service.d')));
    await install(['--uninstall'], folder.path);
    assert.deepEqual(await filesBelow(folder.path), ['etc/nodeward/agent.env', 'etc/nodeward/config.yaml']);
  });

  test('--uninstall leaves nothing in /run', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    await mkdir(join(folder.path, 'run/nodeward.lock.lock'), { recursive: true });
    await writeFile(join(folder.path, 'run/nodeward.lock.queue'), '');
    await writeFile(join(folder.path, 'run/nodeward.lock'), '{"pid":4194999}');
    await install(['--uninstall'], folder.path);
    assert.deepEqual(await readdir(join(folder.path, 'run')), []);
  });

  test('--uninstall removes nothing while an agent runs that was started by hand', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    await mkdir(join(folder.path, 'run'));
    await writeFile(
      join(folder.path, 'run/nodeward.lock'),
      `{"id":"x","pid":${process.pid},"since":"now"}\n`,
    );
    const result = await runInstall(['--uninstall'], folder.path);
    assert.equal(result.code, 1);
    assert.match(result.stderr, new RegExp(`an agent runs \\(process ${process.pid}, .*; stop it first`));
    assert.ok(existsSync(join(folder.path, 'usr/bin/nodeward')));
    assert.ok(existsSync(join(folder.path, 'run/nodeward.lock')));
  });

  test('--purge deleted the state of a running agent that has another --lock-file', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    const state = join(folder.path, 'var/lib/nodeward');
    await mkdir(state, { recursive: true });
    await writeFile(join(state, 'store'), '');
    const self = await createProcessProbe().self();
    const lock = join(state, 'agent.lock');
    const write = (record: ProcessIdentity) =>
      writeRecord(lock, { id: 'x', ...record, since: 'now', yields: false });
    await write(self);
    for (const flag of ['--uninstall', '--purge']) {
      const result = await runInstall([flag], folder.path);
      assert.equal(result.code, 1);
      assert.ok(
        result.stderr.includes(`an agent runs (process ${process.pid}, see ${lock}); stop it first`),
        result.stderr,
      );
    }
    assert.ok(existsSync(join(state, 'store')) && existsSync(join(folder.path, 'usr/bin/nodeward')));

    await write({ ...self, startTicks: '1' });
    await install(['--uninstall'], folder.path);
    await write({ ...self, bootId: '00000000-0000-0000-0000-000000000000' });
    await install(['--purge'], folder.path);
    assert.ok(!existsSync(state), 'a lock that was left behind, whose pid is now that of another process');
  });

  test('--purge removes state and configuration, and says what it removes', async () => {
    await using folder = await temporaryFolder('install-');
    await install([], folder.path);
    const state = join(folder.path, 'var/lib/nodeward');
    await mkdir(join(state, 'storage'), { recursive: true });
    await writeFile(join(state, 'storage/store.sqlite'), '');
    await install(['--uninstall'], folder.path);
    assert.ok(existsSync(join(state, 'storage/store.sqlite')), 'only when it is asked for');
    const told = await install(['--purge'], folder.path);
    for (const path of [state, join(folder.path, 'etc/nodeward')])
      assert.match(told, new RegExp(`removing ${path} \\(.*, \\d+ files\\)`));
    assert.deepEqual(await filesBelow(folder.path), []);
    assert.ok(!existsSync(state));
    assert.match(await install(['--purge'], folder.path), /nothing to remove/);
  });

  test('says what is missing or wrong, and installs nothing then', async () => {
    await using folder = await temporaryFolder('install-');
    const checkout = join(folder.path, 'checkout');
    await mkdir(join(checkout, 'scripts'), { recursive: true });
    await cp(join(repository, 'scripts/install'), join(checkout, 'scripts/install'));
    const prefix = join(folder.path, 'prefix');
    const run = (...argv: string[]) => runCommand(join(checkout, 'scripts/install'), argv);
    const unbuilt = await run('--prefix', prefix);
    assert.equal(unbuilt.code, 1);
    assert.match(unbuilt.stderr, /there is no dist\/main\.js; build first: npm ci && npm run build/);
    assert.equal(existsSync(prefix), false);
    await mkdir(join(checkout, 'dist'));
    await writeFile(join(checkout, 'dist/main.js'), '');
    assert.match(
      (await run('--prefix', prefix)).stderr,
      /there is no node_modules\/node-linux-\w+\/bin\/node; run first: npm ci/,
    );

    await writeFile(join(folder.path, 'file'), '');
    const blocked = await runInstall(['--prefix', join(folder.path, 'file')]);
    assert.equal(blocked.code, 1);
    assert.match(blocked.stderr, /cannot write in .*file\/lib\/nodeward/);
    for (const argv of [['--prefix', 'relative'], ['--prefix'], ['--prefix', '/a b'], ['--nonsense']]) {
      assert.equal((await runInstall(argv)).code, 2, argv.join(' '));
    }
    for (const character of ['&', '|', '`', '$', '%', '"', "'", '\\']) {
      for (const flag of ['--prefix', '--unit-dir', '--etc-dir']) {
        const refused = await runInstall([flag, `/a${character}b`], join(folder.path, 'tree'));
        assert.equal(refused.code, 2, `${flag} ${character}`);
        assert.match(refused.stderr, /a path with blanks, quotes, `, \$, %, &, \| or \\ cannot be used/);
      }
    }
    assert.equal(existsSync(join(folder.path, 'tree')), false);
    assert.match((await runInstall(['--help'])).stdout, /^usage: scripts\/install/);
  });
});
