import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { nodeSubject } from '../../../../src/agent/identity/credentials.ts';
import type { ObtainOptions } from '../../../../src/agent/identity/obtain.ts';
import { obtainPair } from '../../../../src/agent/identity/obtain.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { alternativeNames, readPair, writePair } from '../../../../src/base/x509/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import type { TestAuthority } from './pki.ts';
import { createTestAuthority, dayMs } from './pki.ts';

const authority = await createTestAuthority();
const foreign = await createTestAuthority('foreign-ca');
const subject = nodeSubject('node-a');
const names = alternativeNames(['node-a', '192.0.2.1']);
const name = 'nodeward-serving';
const now = Date.now();

/** Asks for a serving certificate of node-a. */
async function obtain(folder: string, more: Partial<ObtainOptions> = {}, expected = {}) {
  return await obtainPair({
    folder,
    name,
    subject,
    expected: { authority: authority.ca, use: 'server', names, minLeft: 1 / 3, ...expected },
    sign: (csrPem) => authority.sign(csrPem, 'server'),
    clock: systemClock,
    log: silentLogger(),
    ...more,
  });
}

/** For a certificate that is there and good: nobody has to sign for it. */
const signNothing = () => assert.fail('a signature was asked for');

function serving(by: TestAuthority, more: object = {}, commonName = 'system:node:node-a') {
  const given = { names: ['node-a', '192.0.2.1'], ...more };
  return by.issue(commonName, ['system:nodes'], 'server', given);
}

const other = await serving(authority);
const faults: Readonly<Record<string, { cert: string; key: string }>> = {
  'belongs to another key': { ...(await serving(authority)), key: other.key },
  'was issued by another authority': await serving(foreign),
  'is for another node': await serving(authority, {}, 'system:node:node-b'),
  'is not good for an address of the node': await serving(authority, { names: ['node-a', '192.0.2.2'] }),
  'is not good for the name of the node': await serving(authority, { names: ['node-b', '192.0.2.1'] }),
  'has less than a third of its life left': await serving(authority, { now: now - 21 * dayMs }),
  'has expired': await serving(authority, { now: now - 31 * dayMs }),
  'is valid only later': await serving(authority, { now: now + dayMs }),
  'is meant for a client': await authority.issue('system:node:node-a', ['system:nodes'], 'client', {
    names: ['node-a', '192.0.2.1'],
  }),
  'is half written': { ...(await serving(authority)), cert: '-----BEGIN CERTIFICATE-----\nAA' },
  'has lost its key': { ...(await serving(authority)), key: '' },
  'is rubbish': { cert: '\0\0', key: '\0\0' },
};

describe('a certificate that is there', () => {
  test('is used again', async () => {
    await using folder = await temporaryFolder();
    const made = await obtain(folder.path);
    const again = await obtain(folder.path, { sign: signNothing });
    assert.deepEqual(again, made);
  });

  test('is used again when it is good for more names than needed', async () => {
    await using folder = await temporaryFolder();
    const pair = await serving(authority, { names: ['node-a', '192.0.2.1', '192.0.2.9'] });
    await writePair(folder.path, name, pair);
    assert.equal((await obtain(folder.path, { sign: signNothing })).cert, pair.cert);
  });

  test('has its key taken from the eyes of others', async () => {
    await using folder = await temporaryFolder();
    await obtain(folder.path);
    const key = join(folder.path, `${name}.key`);
    await chmod(key, 0o644);
    await obtain(folder.path, { sign: signNothing });
    assert.equal((await stat(key)).mode & 0o777, 0o600);
  });

  for (const [fault, pair] of Object.entries(faults)) {
    test(`is replaced when it ${fault}`, async () => {
      await using folder = await temporaryFolder();
      await writePair(folder.path, name, pair);
      const made = await obtain(folder.path);
      assert.notEqual(made.cert, pair.cert);
      assert.notEqual(made.key, pair.key, 'a new certificate has a new key');
      assert.deepEqual(await readPair(folder.path, name), made);
      await obtain(folder.path, { sign: signNothing });
    });
  }

  test('is replaced when the file is too long to be one', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, `${name}.crt`), 'x'.repeat(100_000));
    const made = await obtain(folder.path);
    assert.deepEqual(await readPair(folder.path, name), made);
    assert.deepEqual(await obtain(folder.path, { sign: signNothing }), made);
  });
});

describe('a new certificate', () => {
  test('says who the node is, and is written privately', async () => {
    await using folder = await temporaryFolder();
    const { cert } = await obtain(folder.path);
    const certificate = new X509Certificate(cert);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:node-a');
    assert.equal(certificate.subjectAltName, 'DNS:node-a, IP Address:192.0.2.1');
    assert.deepEqual((await readdir(folder.path)).sort(), [`${name}.crt`, `${name}.key`]);
    for (const file of await readdir(folder.path))
      assert.equal((await stat(join(folder.path, file))).mode & 0o777, 0o600);
  });

  test('asks without giving its key away', async () => {
    await using folder = await temporaryFolder();
    const sent: string[] = [];
    const { key } = await obtain(folder.path, {
      async sign(csrPem) {
        sent.push(csrPem);
        return await authority.sign(csrPem, 'server');
      },
    });
    assert.match(sent.join(), /^-----BEGIN CERTIFICATE REQUEST-----/);
    assert.doesNotMatch(sent.join(), /PRIVATE/);
    assert.match(key, /BEGIN PRIVATE KEY/);
  });

  const bad: Readonly<Record<string, [RegExp, ObtainOptions['sign']]>> = {
    'another authority': [/issued by another authority/, (csr) => foreign.sign(csr, 'server')],
    'the wrong use': [/not meant for a server/, (csr) => authority.sign(csr, 'client')],
    'another key': [/key belongs to another/, async () => (await serving(authority)).cert],
    'no certificate': [/cannot be read/, async () => 'certificate'],
    nothing: [/missing or empty/, async () => ''],
    'an expired one': [/expired/, (csr) => authority.sign(csr, 'server', { now: now - 40 * dayMs })],
  };
  for (const [what, [message, sign]] of Object.entries(bad)) {
    test(`with ${what} is refused, and what was there stays`, async () => {
      await using folder = await temporaryFolder();
      const old = await serving(authority, { now: now - 25 * dayMs });
      await writePair(folder.path, name, old);
      await assert.rejects(obtain(folder.path, { sign }), message);
      assert.deepEqual(await readPair(folder.path, name), old);
    });
  }

  test('may be short-lived from the start', async () => {
    await using folder = await temporaryFolder();
    const sign: ObtainOptions['sign'] = (csr) => authority.sign(csr, 'server', { lifetimeMs: 60_000 });
    const made = await obtain(folder.path, { sign });
    const { validToDate } = new X509Certificate(made.cert);
    assert.ok(validToDate.getTime() - Date.now() <= 60_000, `valid to ${validToDate.toISOString()}`);
    assert.deepEqual(await readPair(folder.path, name), made);
  });

  test('may have taken long to be signed', async () => {
    await using folder = await temporaryFolder();
    const clock = { ...systemClock, now: () => timeMs };
    let timeMs = now - dayMs;
    const made = await obtain(folder.path, {
      clock,
      async sign(csrPem) {
        timeMs = now;
        return await authority.sign(csrPem, 'server');
      },
    });
    assert.deepEqual(await readPair(folder.path, name), made);
  });

  test('that cannot be written is an error that names the file', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, `${name}.key`));
    await assert.rejects(obtain(folder.path), /nodeward-serving\.key/);
  });
});

describe('authorities', () => {
  test('may be several in one file', async () => {
    await using folder = await temporaryFolder();
    const both = { authority: `${foreign.ca}\n${authority.ca}` };
    const made = await obtain(folder.path, {}, both);
    assert.equal((await obtain(folder.path, { sign: signNothing }, both)).cert, made.cert);
  });
});
