import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAppArmorProfiles, readHostAppArmor } from '../../../../../src/agent/seccomp/registry/index.ts';
import { runSuccessfully, temporaryFolder } from '../../../../support/index.ts';

test('AppArmor profiles are listed by name as the kernel has loaded them', async () => {
  await using home = await temporaryFolder('app-armor-');
  const root = `${home.path}/`;
  assert.deepEqual(await readAppArmorProfiles(root), {
    enabled: false,
    profiles: [],
    problem: 'AppArmor is not enabled on the host',
  });

  const parameters = join(root, 'sys/module/apparmor/parameters');
  const security = join(root, 'sys/kernel/security/apparmor');
  await mkdir(parameters, { recursive: true });
  await mkdir(security, { recursive: true });
  await writeFile(join(parameters, 'enabled'), 'Y\n');
  assert.match((await readAppArmorProfiles(root)).problem ?? '', /mount securityfs/);
  assert.deepEqual(await readHostAppArmor(root), { enabled: true });

  await writeFile(
    join(security, 'profiles'),
    'k8s-deny-write (enforce)\n/usr/bin/man (x) (complain)\nnonsense\n',
  );
  assert.deepEqual(await readAppArmorProfiles(root), {
    enabled: true,
    profiles: [
      { name: 'k8s-deny-write', mode: 'enforce' },
      { name: '/usr/bin/man (x)', mode: 'complain' },
    ],
  });

  assert.deepEqual(await readHostAppArmor(root), {
    enabled: true,
    loaded: new Set(['k8s-deny-write', '/usr/bin/man (x)']),
  });

  await writeFile(join(parameters, 'enabled'), 'N\n');
  assert.deepEqual(await readHostAppArmor(root), { enabled: false });
  assert.deepEqual((await readAppArmorProfiles(root)).profiles, []);
});

test('a FIFO in the place of the kernel’s list holds up nothing', async () => {
  await using home = await temporaryFolder('app-armor-');
  const parameters = join(home.path, 'sys/module/apparmor/parameters');
  await mkdir(parameters, { recursive: true });
  await runSuccessfully('mkfifo', [join(parameters, 'enabled')]);
  assert.deepEqual((await readAppArmorProfiles(`${home.path}/`)).profiles, []);
});
