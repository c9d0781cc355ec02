import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import { describePlace } from '../../../../src/cli/agent-client/fill-place.ts';
import { findPlace } from '../../../../src/cli/agent-client/place.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { runCommandLine } from '../run-command.ts';

const installed = { script: '/usr/lib/nodeward/dist/main.js' };

describe('what a command talks to', () => {
  test('its flags come first: --kubeconfig, then --root-dir', () => {
    const env = { NODEWARD_ROOT_DIR: '/variable', KUBECONFIG: '/nowhere' };
    const around = { ...installed, env };
    const both = findPlace({ rootDir: '/flag', kubeconfig: '/file', usesServer: true }, around);
    assert.deepEqual([both.kind, both.path], ['kubeconfig', '/file']);
    const folder = findPlace({ rootDir: '/flag', usesServer: true }, around);
    assert.deepEqual([folder.kind, folder.path], ['rootDir', '/flag']);
  });

  test('$NODEWARD_ROOT_DIR comes next; an empty variable is none', () => {
    const place = findPlace({}, { ...installed, env: { NODEWARD_ROOT_DIR: '/variable' } });
    assert.equal(describePlace(place), 'using /variable, $NODEWARD_ROOT_DIR');
    const empty = findPlace(
      { usesServer: true },
      { ...installed, env: { NODEWARD_ROOT_DIR: '', KUBECONFIG: '' } },
    );
    assert.equal(empty.path, '/var/lib/nodeward');
  });

  test('$KUBECONFIG counts for a command that asks an API server; the first file that exists of a list', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'config');
    await writeFile(file, '');
    const around = { ...installed, env: { KUBECONFIG: `/nowhere:${file}` } };
    const place = findPlace({ usesServer: true }, around);
    assert.deepEqual([place.kind, place.path, place.origin], ['kubeconfig', file, '$KUBECONFIG']);
    assert.equal(findPlace({}, around).path, '/var/lib/nodeward', 'a command that needs a folder');
  });

  test('$KUBECONFIG that names no file is an error, and no other cluster is asked', () => {
    const find = () =>
      findPlace({ usesServer: true }, { ...installed, env: { KUBECONFIG: '/nowhere/config' } });
    assert.throws(find, (error: unknown) => {
      assert.ok(error instanceof ExitError && error.exitCode === exitCodes.configuration);
      return error.message.startsWith('$KUBECONFIG names no file that exists (/nowhere/config)');
    });
  });

  test('.nodeward of the checkout comes after the variables, once it is there', async () => {
    await using checkout = await temporaryFolder();
    await mkdir(join(checkout.path, 'scripts'));
    await writeFile(join(checkout.path, 'scripts/up'), '');
    for (const script of ['dist/main.js', 'src/main.ts']) {
      const around = { script: join(checkout.path, script), env: {} };
      assert.equal(findPlace({}, around).path, '/var/lib/nodeward');
    }
    await mkdir(join(checkout.path, '.nodeward'));
    const around = { script: join(checkout.path, 'dist/main.js'), env: {} };
    const place = findPlace({ usesServer: true }, around);
    assert.equal(describePlace(place), `using ${join(checkout.path, '.nodeward')}, of this checkout`);
  });
});

describe('$KUBECONFIG and $NODEWARD_ROOT_DIR, which every subcommand ignored', () => {
  const commands = [
    ['checkpoint', 'default/web/app'],
    ['checkpoint', 'ls'],
    ['access', 'who-can', 'get', 'pods'],
    ['token', 'create'],
    ['token', 'list'],
    ['plugins', 'ls'],
    ['devices', 'ls'],
    ['seccomp', 'ls'],
  ];
  for (const args of commands) {
    test(`nodeward ${args.join(' ')} takes them, and says what it looked at`, async () => {
      await using folder = await temporaryFolder();
      const file = join(folder.path, 'config');
      await writeFile(file, 'kind: Wrong\n');
      const server = await runCommandLine(args, { env: { KUBECONFIG: file } });
      assert.match(server.stderr, new RegExp(`^using ${file}, \\$KUBECONFIG$`, 'm'));
      assert.match(server.stderr, new RegExp(`kubeconfig ${file}: kind must be Config`));
      const env = { NODEWARD_ROOT_DIR: folder.path, KUBECONFIG: file };
      const agent = await runCommandLine(args, { env });
      assert.match(agent.stderr, new RegExp(`^using ${folder.path}, \\$NODEWARD_ROOT_DIR$`, 'm'));
      assert.match(agent.stderr, new RegExp(`there is no .*${folder.path}`));
    });
  }

  test('nothing is said beside flags, or where the output is for programs', async () => {
    await using folder = await temporaryFolder();
    const env = { NODEWARD_ROOT_DIR: folder.path };
    for (const args of [
      ['token', 'list', '-o', 'json'],
      ['plugins', 'ls', '-o', 'yaml'],
      ['checkpoint', '--root-dir', folder.path, 'ls'],
      ['storage', 'stats', '--kubeconfig', join(folder.path, 'none')],
    ]) {
      assert.doesNotMatch((await runCommandLine(args, { env })).stderr, /^using/m, args.join(' '));
    }
  });

  test('an agent and a control plane take $NODEWARD_ROOT_DIR for their own folder', async () => {
    await using folder = await temporaryFolder();
    const env = { NODEWARD_ROOT_DIR: join(folder.path, 'file/root') };
    await writeFile(join(folder.path, 'file'), '');
    for (const name of ['agent', 'apiserver']) {
      const { code, stderr } = await runCommandLine([name], { env });
      assert.notEqual(code, 0);
      assert.match(stderr, new RegExp(`${folder.path}/file`), name);
    }
  });
});
