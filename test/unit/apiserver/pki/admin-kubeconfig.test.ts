import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeAdminKubeconfig } from '../../../../src/apiserver/pki/index.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import { createAuthority } from '../../../../src/base/x509/index.ts';
import { readKubeconfig } from '../../../../src/client/kubeconfig/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const { cert, key } = await createAuthority('test-ca', 3600_000, Date.now());
const content = { server: 'https://127.0.0.1:6443', ca: cert, cert, key };

test('the kubeconfig of an administrator is written whole, private, and only when it changed', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'admin.kubeconfig');
  await writeAdminKubeconfig(path, content);
  const first = await stat(path);
  assert.equal(first.mode & 0o777, 0o600);
  const { server, ca, cert: readCert, key: readKey } = await readKubeconfig(path);
  assert.deepEqual({ server, ca, cert: readCert, key: readKey }, content);

  await writeAdminKubeconfig(path, content);
  assert.equal((await stat(path)).ino, first.ino, 'the same file');

  await writeAdminKubeconfig(path, { ...content, server: 'https://127.0.0.1:6444' });
  assert.equal((await readKubeconfig(path)).server, 'https://127.0.0.1:6444');
  assert.deepEqual(await readdir(folder.path), ['admin.kubeconfig']);
});

test('one that is open to others or damaged is written anew', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'admin.kubeconfig');
  await writeAdminKubeconfig(path, content);
  await chmod(path, 0o644);
  await writeAdminKubeconfig(path, content);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await writeFile(path, 'half a fi');
  await writeAdminKubeconfig(path, content);
  assert.equal((await readKubeconfig(path)).server, content.server);
});

test('a folder in the way is an ExitError that names it', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'admin.kubeconfig');
  await mkdir(path);
  await assert.rejects(writeAdminKubeconfig(path, content), (error) => {
    assert.ok(error instanceof ExitError);
    assert.equal(error.exitCode, exitCodes.unwritable);
    assert.ok(error.message.includes(path));
    return true;
  });
});
