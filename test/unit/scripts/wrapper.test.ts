import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findPlace } from '../../../src/cli/agent-client/place.ts';
import { runCommand, temporaryFolder } from '../../support/index.ts';

const wrapper = fileURLToPath(new URL('../../../nodeward', import.meta.url));

/** A checkout whose Node.js prints with what it was called. */
async function checkoutIn(folder: string): Promise<string> {
  await copyFile(wrapper, join(folder, 'nodeward'));
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await mkdir(join(folder, 'src'));
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'src/main.ts'), '');
  const node = join(folder, 'node_modules/.bin/node');
  await writeFile(node, '#!/bin/sh\necho "$NODEWARD_ROOT_DIR|$NODEWARD_COMMAND|$*"\n');
  await chmod(node, 0o755);
  return join(folder, 'nodeward');
}

const run = async (command: string, env: NodeJS.ProcessEnv = {}, argv = ['doctor', '--only', 'a b']) => {
  const { stdout } = await runCommand(command, argv, {
    env: { PATH: process.env['PATH'], ...env },
  });
  return stdout.trim();
};

describe('./nodeward in a checkout', () => {
  test('runs the built program while it is newer than its sources, else the sources', async () => {
    await using folder = await temporaryFolder();
    const command = await checkoutIn(folder.path);
    assert.equal(await run(command), `|${command}|${folder.path}/src/main.ts doctor --only a b`);
    const main = join(folder.path, 'dist/main.js');
    await writeFile(main, '');
    const later = Date.now() / 1000 + 60;
    await utimes(main, later, later);
    assert.equal(await run(command), `|${command}|${main} doctor --only a b`);
  });

  test('sets NODEWARD_ROOT_DIR of an agent to .nodeward once that is there, also through a link, and keeps one that is set', async () => {
    await using folder = await temporaryFolder();
    const command = await checkoutIn(folder.path);
    await mkdir(join(folder.path, '.nodeward'));
    const link = join(folder.path, 'link');
    await symlink(command, link);
    for (const argv of [['agent'], ['apiserver', '--port', '0']]) {
      assert.match(await run(command, {}, argv), new RegExp(`^${folder.path}/\\.nodeward\\|`));
      const linked = new RegExp(`^${folder.path}/\\.nodeward\\|${link}\\|${folder.path}/src`);
      assert.match(await run(link, {}, argv), linked);
      assert.match(await run(command, { NODEWARD_ROOT_DIR: '/mine' }, argv), /^\/mine\|/);
    }
  });

  test('.nodeward of the checkout came before $KUBECONFIG: other commands find it themselves, after that', async () => {
    await using folder = await temporaryFolder();
    const command = await checkoutIn(folder.path);
    await mkdir(join(folder.path, '.nodeward'));
    for (const argv of [['checkpoint', 'ls'], ['doctor'], []])
      assert.match(await run(command, { KUBECONFIG: '/mine' }, argv), /^\|/, argv.join(' '));
    await mkdir(join(folder.path, 'scripts'));
    await writeFile(join(folder.path, 'scripts/up'), '');
    const script = join(folder.path, 'dist/main.js');
    const find = (env: NodeJS.ProcessEnv) => findPlace({ usesServer: true }, { script, env }).path;
    assert.equal(find({}), join(folder.path, '.nodeward'));
    assert.equal(find({ KUBECONFIG: command }), command);
  });

  test('says what to do where the dependencies are missing', async () => {
    await using folder = await temporaryFolder();
    await copyFile(wrapper, join(folder.path, 'nodeward'));
    const { code, stderr } = await runCommand(join(folder.path, 'nodeward'), []);
    assert.equal(code, 1);
    assert.match(stderr, /dependencies are missing; run scripts\/up/);
  });
});
