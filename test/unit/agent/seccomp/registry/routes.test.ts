import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { seccompRoutes } from '../../../../../src/agent/seccomp/registry/index.ts';
import { admin, ask, cluster, startServer } from '../../server/running-server.ts';
import { good, podNaming, sampleRegistry } from './sample-registry.ts';

test('/seccomp lists the profiles with verdict, digest and users, /apparmor what the kernel has loaded', async () => {
  await using sample = await sampleRegistry({
    pods: [podNaming('web', { pod: 'a.json' }), podNaming('sick', { pod: 'none.json' })],
  });
  await mkdir(sample.folder);
  await writeFile(join(sample.folder, 'a.json'), good);
  await writeFile(join(sample.folder, 'b.json'), 'broken');
  await sample.becomes('a.json', 'valid');
  await sample.becomes('b.json', 'invalid');
  await sample.becomes('none.json', 'missing');
  const appArmor = async () => ({ enabled: true, profiles: [{ name: 'deny-write', mode: 'enforce' }] });
  await using server = await startServer({ more: seccompRoutes(sample.folder, sample.registry, appArmor) });

  const { code, body } = await ask(server.port, 'GET', '/seccomp', admin);
  assert.equal(code, 200);
  const status = JSON.parse(body);
  assert.equal(status.folder, sample.folder);
  assert.deepEqual(
    status.profiles.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`),
    ['a.json valid', 'b.json invalid', 'none.json missing'],
  );
  const [a, b, none] = status.profiles;
  assert.match(a.digest, /^sha256:[0-9a-f]{64}$/);
  assert.match(a.modified, /^20\d\d-.*Z$/);
  assert.deepEqual([a.valid, b.valid, none.valid], [true, false, undefined]);
  assert.deepEqual(a.usedBy, [{ namespace: 'default', pod: 'web', container: 'main' }]);
  assert.deepEqual(b.errors, [{ path: 'defaultAction', message: 'wrong' }]);
  assert.deepEqual(b.usedBy, []);
  assert.match(none.errors[0].message, /not there/);

  const loaded = await ask(server.port, 'GET', '/apparmor', admin);
  assert.deepEqual(JSON.parse(loaded.body), {
    enabled: true,
    profiles: [{ name: 'deny-write', mode: 'enforce' }],
  });
});

test('nobody else is told, and nothing but GET is answered', async () => {
  await using sample = await sampleRegistry();
  await using server = await startServer({ more: seccompRoutes(sample.folder, sample.registry) });
  const other = await cluster.issue('eve', [], 'client');
  for (const path of ['/seccomp', '/apparmor']) {
    assert.equal((await ask(server.port, 'GET', path, other)).code, 403, path);
    assert.equal((await ask(server.port, 'GET', path)).code, 401, path);
    assert.equal((await ask(server.port, 'DELETE', path, admin)).code, 405, path);
  }
});
