import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chmod, link, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pki } from '../../../../src/apiserver/pki/index.ts';
import { openPki } from '../../../../src/apiserver/pki/index.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import { createAuthority, findFault, writePair } from '../../../../src/base/x509/index.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import type { RecordedLog } from '../../base/recorded-log.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const dayMs = 24 * 3600_000;

let temporary: TemporaryFolder;
let folder: string;
let clock: ManualClock;
let log: RecordedLog;

beforeEach(async () => {
  temporary = await temporaryFolder();
  folder = join(temporary.path, 'pki');
  clock = createManualClock();
  log = recordedLog();
});
afterEach(async () => await temporary[Symbol.asyncDispose]());

function open(serverNames: readonly string[] = ['127.0.0.1']): Promise<Pki> {
  log = recordedLog();
  return openPki({ folder, serverNames, clock, log: log.log });
}

function read(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8');
}

async function assertWhole(pki: Pki): Promise<void> {
  const common = { authority: pki.authority.cert, now: clock.now() };
  assert.equal(findFault(pki.authority, { ...common, use: 'authority' }), undefined);
  assert.equal(findFault(pki.serving, { ...common, use: 'server' }), undefined);
  assert.equal(findFault(pki.admin, { ...common, use: 'client' }), undefined);
  const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: [] };
  assert.equal(findFault(pki.agentClient, { ...common, use: 'client', subject }), undefined);
  assert.deepEqual(pki, {
    authority: { cert: await read('ca.crt'), key: await read('ca.key') },
    serving: { cert: await read('apiserver.crt'), key: await read('apiserver.key') },
    admin: { cert: await read('admin.crt'), key: await read('admin.key') },
    agentClient: {
      cert: await read('apiserver-kubelet-client.crt'),
      key: await read('apiserver-kubelet-client.key'),
    },
  });
}

async function assertDamaged(why: RegExp): Promise<void> {
  const before = await contents();
  await assert.rejects(open(), (error) => {
    assert.ok(error instanceof ExitError);
    assert.equal(error.exitCode, exitCodes.configuration);
    assert.match(error.message, why);
    assert.match(error.message, /restore both files from a backup/);
    return true;
  });
  assert.deepEqual(await contents(), before, 'nothing was changed');
}

async function contents(): Promise<Record<string, string>> {
  const names = (await readdir(folder)).toSorted();
  const found: Record<string, string> = {};
  for (const name of names) found[name] = await read(name);
  return found;
}

describe('the first start', () => {
  test('makes authority, serving and admin certificate, all private', async () => {
    const pki = await open(['api.example', '10.1.2.3']);
    await assertWhole(pki);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    const names = (await readdir(folder)).toSorted();
    assert.deepEqual(names, [
      ...['admin.crt', 'admin.key', 'apiserver-kubelet-client.crt', 'apiserver-kubelet-client.key'],
      ...['apiserver.crt', 'apiserver.key', 'ca.crt', 'ca.key'],
    ]);
    for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
  });

  test('the serving certificate is good for every usual name and the given ones', async () => {
    const { serving } = await open(['api.example', '10.1.2.3', '::']);
    const certificate = new X509Certificate(serving.cert);
    const own = hostname().toLowerCase();
    for (const name of [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'api.example',
      own,
    ]) {
      assert.ok(certificate.checkHost(name, { subject: 'never' }), name);
    }
    for (const address of ['127.0.0.1', '::1', '10.1.2.3']) assert.ok(certificate.checkIP(address), address);
    assert.equal(certificate.checkIP('::'), undefined);
  });

  test('the admin certificate is for kubernetes-admin of system:masters, ten years under one authority', async () => {
    const { admin, authority } = await open();
    assert.equal(new X509Certificate(admin.cert).subject, 'O=system:masters\nCN=kubernetes-admin');
    const years = (Date.parse(new X509Certificate(authority.cert).validTo) - clock.now()) / (365 * dayMs);
    assert.ok(years > 9.9 && years < 10.1);
  });

  test('two at once agree on one authority', async () => {
    const [one, two] = await Promise.all([open(), open()]);
    assert.equal(one.authority.key, two.authority.key);
    for (const pki of [one, two]) {
      for (const authority of [one.authority.cert, two.authority.cert]) {
        assert.equal(findFault(pki.admin, { authority, use: 'client', now: clock.now() }), undefined);
      }
    }
    await assertWhole(await open());
  });
});

describe('a later start', () => {
  test('changes nothing and says nothing', async () => {
    const first = await open();
    const files = await contents();
    assert.deepEqual(await open(), first);
    assert.deepEqual(await contents(), files);
    assert.equal(log.text(), '');
  });

  test('makes the serving certificate anew when it no longer covers a name', async () => {
    const first = await open();
    const second = await open(['api.example']);
    assert.equal(second.authority.cert, first.authority.cert);
    assert.equal(second.admin.cert, first.admin.cert);
    assert.notEqual(second.serving.cert, first.serving.cert);
    assert.match(log.text(), /does not cover api\.example/);
    await assertWhole(second);
  });

  test('makes leaves anew when a third of their life is left', async () => {
    const first = await open();
    clock.setWall(200 * dayMs);
    assert.deepEqual(await open(), first);
    clock.setWall(50 * dayMs);
    const second = await open();
    assert.equal(second.authority.cert, first.authority.cert);
    assert.notEqual(second.serving.cert, first.serving.cert);
    assert.notEqual(second.admin.cert, first.admin.cert);
    await assertWhole(second);
  });

  test('makes leaves anew after the authority was exchanged', async () => {
    const first = await open();
    await writePair(folder, 'ca', await createAuthority('other-ca', 3650 * dayMs, clock.now()));
    const second = await open();
    assert.notEqual(second.serving.cert, first.serving.cert);
    assert.match(log.text(), /issued by another authority/);
    await assertWhole(second);
  });

  test('warns when the authority ends soon, and does not make leaves at each start', async () => {
    await mkdir(folder, { mode: 0o700 });
    await writePair(folder, 'ca', await createAuthority('short-ca', 10 * dayMs, clock.now()));
    await open();
    clock.setWall(9 * dayMs);
    const second = await open();
    assert.match(log.text(), /the certificate authority ends soon/);
    assert.deepEqual(await open(), second);
    assert.doesNotMatch(log.text(), /making a certificate/);
  });

  test('closes keys that were open to others', async () => {
    await open();
    await chmod(join(folder, 'ca.key'), 0o644);
    await open();
    assert.equal((await stat(join(folder, 'ca.key'))).mode & 0o777, 0o600);
    assert.match(log.text(), /a key was open to other users/);
  });
});

describe('a leaf that is not whole is made anew', () => {
  const damages: [string, (name: string) => Promise<void>][] = [
    ['without certificate', (name) => rm(join(folder, `${name}.crt`))],
    ['without key', (name) => rm(join(folder, `${name}.key`))],
    ['with an empty certificate', (name) => truncate(join(folder, `${name}.crt`))],
    ['with a cut key', (name) => truncate(join(folder, `${name}.key`), 100)],
    ['with the key of another', async (name) => writeFile(join(folder, `${name}.key`), await read('ca.key'))],
    ['with rubbish', (name) => writeFile(join(folder, `${name}.crt`), Buffer.alloc(100_000, 0xff))],
  ];
  for (const name of ['apiserver', 'admin', 'apiserver-kubelet-client']) {
    for (const [what, damage] of damages) {
      test(`${name}, ${what}`, async () => {
        const first = await open();
        await damage(name);
        const second = await open();
        assert.deepEqual(second.authority, first.authority);
        assert.match(log.text(), /making a certificate/);
        await assertWhole(second);
      });
    }
  }

  test('certificates that changed places', async () => {
    const { serving, admin } = await open();
    await writePair(folder, 'admin', serving);
    await writePair(folder, 'apiserver', admin);
    await assertWhole(await open());
  });

  test('what cannot be written is an ExitError', async () => {
    await open();
    await rm(join(folder, 'admin.crt'));
    await mkdir(join(folder, 'admin.crt'));
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof ExitError);
      assert.equal(error.exitCode, exitCodes.unwritable);
      assert.match(error.message, /admin\.crt/);
      return true;
    });
  });
});

describe('an authority that is not whole', () => {
  test('is finished when the first start was ended between key and certificate', async () => {
    const { authority } = await open();
    for (const name of await readdir(folder)) {
      if (name !== 'ca.key') await rm(join(folder, name));
    }
    await link(join(folder, 'ca.key'), join(folder, '.ca.key.draft-1'));
    const second = await open();
    assert.equal(second.authority.key, authority.key);
    await assertWhole(second);
    assert.ok(!(await readdir(folder)).some((name) => name.startsWith('.')), 'no copy of the key is left');
  });

  test('is not made anew beside certificates that it signed', async () => {
    await open();
    await rm(join(folder, 'ca.crt'));
    await assertDamaged(/certificate is missing or empty, but there is apiserver\.crt/);
    await rm(join(folder, 'ca.key'));
    await assertDamaged(/both files are missing, but there is apiserver\.crt/);
  });

  test('others may have certificates in the same folder', async () => {
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, 'nodeward-serving.crt'), 'of the node agent');
    assert.ok((await open()).authority);
  });

  const damages: [string, () => Promise<void>, RegExp][] = [
    ['without key', () => rm(join(folder, 'ca.key')), /the key is missing or empty/],
    ['with an empty certificate', () => truncate(join(folder, 'ca.crt')), /missing or empty/],
    ['with a cut certificate', () => truncate(join(folder, 'ca.crt'), 200), /cannot be read/],
    ['with a cut key', () => truncate(join(folder, 'ca.key'), 100), /cannot be read/],
    [
      'with a key of another',
      async () => writeFile(join(folder, 'ca.key'), await read('admin.key')),
      /the key belongs to another certificate/,
    ],
    [
      'with a certificate that is no authority',
      async () => {
        await writeFile(join(folder, 'ca.key'), await read('admin.key'));
        await writeFile(join(folder, 'ca.crt'), await read('admin.crt'));
      },
      /issued by another authority|no certificate authority/,
    ],
  ];
  for (const [what, damage, why] of damages) {
    test(`${what} is for a person to mend`, async () => {
      await open();
      await damage();
      await assertDamaged(why);
    });
  }

  test('that has expired is for a person to mend', async () => {
    await open();
    clock.setWall(3651 * dayMs);
    await assertDamaged(/it expired at/);
  });

  test('a clock that stands far back is no damage: the code is one to try again after', async () => {
    await open();
    clock.setWall(-dayMs);
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof ExitError);
      assert.equal(error.exitCode, exitCodes.failed);
      assert.match(
        error.message,
        /is valid only from .* on, and this machine's clock shows .*: set the clock/,
      );
      return true;
    });
    clock.setWall(dayMs);
    await open();
  });

  test('a key that is no key, alone, is not replaced', async () => {
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, 'ca.key'), 'hello');
    await assertDamaged(/cannot be used/);
  });
});
