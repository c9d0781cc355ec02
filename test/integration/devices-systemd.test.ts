/** The agent as a service, installed without the rights for pods, with the drop-in that lets it serve plugins at the reference's own paths. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt, runInstall } from './installation.ts';
import type { LabMachine } from './lab/index.ts';
import { bootSystemd } from './lab/index.ts';

const unit = 'nodeward.service';
const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
deviceManager: {kubeletPaths: true}
`;
const sockets = ['device-plugins/kubelet.sock', 'pod-resources/kubelet.sock'];

let seed: TemporaryFolder;

before(async () => {
  await ensureBuilt();
  seed = await temporaryFolder('install-');
  const result = await runInstall(['--without-pods'], seed.path);
  assert.equal(result.code, 0, result.stderr);
  await writeFile(join(seed.path, 'etc/nodeward/config.yaml'), config);
});
after(() => seed?.[Symbol.asyncDispose]());

async function boot(root: string, withDropIn: boolean): Promise<LabMachine> {
  const shipped = await readFile(
    join(seed.path, 'usr/share/doc/nodeward/drop-ins/kubelet-paths.conf'),
    'utf8',
  );
  return await bootSystemd({
    root,
    seed: seed.path,
    files: withDropIn ? { [`/etc/systemd/system/${unit}.d/kubelet-paths.conf`]: shipped } : {},
  });
}

const isSocket = async (machine: LabMachine, path: string) =>
  (await machine.run(['test', '-S', `/var/lib/kubelet/${path}`])).code === 0;

for (const [root, version] of [
  ['bookworm', 252],
  ['trixie', 257],
] as const) {
  describe(`plugins at the reference's paths under systemd ${version}`, { timeout: 120_000 }, () => {
    test('are served with the drop-in, whose folders need not be there before', async () => {
      await using machine = await boot(root, true);
      const verified = await machine.run(['systemd-analyze', 'verify', `/usr/lib/systemd/system/${unit}`]);
      assert.doesNotMatch(`${verified.stdout}${verified.stderr}`, /kubelet-paths/);
      const started = await machine.run(['systemctl', 'start', unit]);
      assert.equal(started.code, 0, await machine.journal(unit));
      for (const path of sockets) {
        await waitFor(`the socket ${path}`, () => isSocket(machine, path)).catch(async (error: unknown) => {
          throw new Error(`${String(error)}\n${await machine.journal(unit)}`);
        });
      }
    });

    test('cannot be served without it, which is told, and the agent works all the same', async () => {
      await using machine = await boot(root, false);
      const started = await machine.run(['systemctl', 'start', unit]);
      assert.equal(started.code, 0, await machine.journal(unit));
      await waitFor('the log to tell', async () =>
        /device plugins cannot register: .*\/var\/lib\/kubelet/.test(await machine.journal(unit)),
      ).catch(async (error: unknown) => {
        throw new Error(`${String(error)}\n${await machine.journal(unit)}`);
      });
      const { ActiveState } = await machine.show(unit, 'ActiveState');
      assert.equal(ActiveState, 'active');
    });
  });
}
