import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Tools } from '../../../src/agent/volumes/tools.ts';
import { systemTools } from '../../../src/agent/volumes/tools.ts';
import { DeadlineError, systemClock } from '../../../src/base/index.ts';
import { mountPoints } from '../../support/mounts.ts';
import { hasOwnMounts } from './own-mounts.ts';
import { podId, podWith, untilReady, volumeLab } from './support.ts';

const memory = { name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } };
const disk = { name: 'd', emptyDir: {} };

/** Plain umount hangs, as for a server that is gone. */
const hangingUmount: Tools = {
  run: async (command, argv, timeoutMs) => {
    if (command === 'umount' && !argv.includes('--lazy'))
      throw new DeadlineError('umount did not answer within 10 s');
    return await systemTools(systemClock).run(command, argv, timeoutMs);
  },
};

if (hasOwnMounts(import.meta.filename)) {
  describe('releasing', () => {
    test('does not wait for what hangs: it is taken off the tree', async () => {
      await using lab = await volumeLab({ tools: hangingUmount });
      await untilReady(lab.volumes, podWith([memory]));
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
      assert.ok(!(await mountPoints()).some(({ path }) => path.startsWith(lab.podFolder)));
    });

    test('says what is in the way when nothing helps, removes nothing then, and goes on later', async () => {
      let isHanging = true;
      const stubborn: Tools = {
        run: async (command, argv, timeoutMs) => {
          if (isHanging && command === 'umount') return { code: 32, output: '', errors: 'target is busy.\n' };
          return await systemTools(systemClock).run(command, argv, timeoutMs);
        },
      };
      await using lab = await volumeLab({ tools: stubborn });
      await untilReady(lab.volumes, podWith([memory, disk]));
      await writeFile(join(lab.emptyDir('m'), 'file'), '');
      await assert.rejects(lab.volumes.release(podId), {
        message: `umount of ${lab.emptyDir('m')} failed: target is busy.`,
      });
      assert.deepEqual(await readdir(lab.emptyDir('m')), ['file']);
      isHanging = false;
      await lab.volumes.release(podId);
      assert.deepEqual(await readdir(lab.podFolder), []);
    });

    test('while volumes are being set up waits for that, and leaves nothing', async () => {
      await using lab = await volumeLab();
      for (let round = 0; round < 20; round += 1) {
        lab.volumes.want(podWith([memory, disk]));
        await new Promise((resolve) => setTimeout(resolve, round % 5));
        await lab.volumes.release(podId);
        assert.ok(!existsSync(lab.podFolder) || (await readdir(lab.podFolder)).length === 0);
      }
    });

    test('that was killed at any time is done by the next', async () => {
      const modules = [
        '../../../src/agent/volumes/index.ts',
        '../../../src/base/index.ts',
        '../../support/without-api.ts',
      ];
      const [volumesUrl, baseUrl, supportUrl] = modules.map((path) => new URL(path, import.meta.url).href);
      const program = `
        import { PodVolumes } from '${volumesUrl}';
        import { silentLogger, systemClock } from '${baseUrl}';
        import { withoutApi } from '${supportUrl}';
        const volumes = new PodVolumes({ rootDir: process.argv[1], memoryBytes: () => undefined,
          supportsRecursiveReadOnly: () => true, ...withoutApi, log: silentLogger(), clock: systemClock });
        process.stdout.write('going\\n');
        await volumes.release({ uid: 'u1', namespace: 'default', name: 'web' });`;
      for (const delayMs of [0, 3, 8, 20, 50]) {
        await using lab = await volumeLab();
        await untilReady(lab.volumes, podWith([memory, disk]));
        for (let index = 0; index < 40; index += 1) {
          await mkdir(join(lab.emptyDir('d'), `a${index}/b/c`), { recursive: true });
          for (const name of ['x', 'a0/y', `a${index}/b/z`])
            await writeFile(join(lab.emptyDir('d'), name), '');
        }
        const child = spawn(process.execPath, ['--input-type=module', '-e', program, '--', lab.rootDir], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = new Promise((resolve) => child.once('exit', resolve));
        await new Promise((resolve) => child.stdout.once('data', resolve));
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        child.kill('SIGKILL');
        await ended;
        const next = lab.restart();
        if (existsSync(join(lab.podFolder, 'volumes'))) assert.deepEqual(await next.listPods(), ['u1']);
        await next.release(podId);
        assert.deepEqual(await readdir(lab.podFolder), []);
        assert.deepEqual(await next.listPods(), []);
      }
    });
  });
}
