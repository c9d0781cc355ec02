import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openServiceAccountKey } from '../../../../src/apiserver/pki/index.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

let temporary: TemporaryFolder;
let folder: string;
let log = recordedLog();

beforeEach(async () => {
  temporary = await temporaryFolder();
  folder = join(temporary.path, 'pki');
  await mkdir(folder);
  log = recordedLog();
});
afterEach(async () => await temporary[Symbol.asyncDispose]());

const open = () => openServiceAccountKey({ folder, log: log.log });
const put = (text: string) => writeFile(join(folder, 'sa.key'), text, { mode: 0o600 });

function pemOf(type: 'rsa' | 'ec', of: { modulusLength?: number; namedCurve?: string }): string {
  const pair =
    type === 'rsa'
      ? generateKeyPairSync(type, { modulusLength: of.modulusLength ?? 2048 })
      : generateKeyPairSync(type, { namedCurve: of.namedCurve ?? 'P-256' });
  return pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

describe('the key of the tokens', () => {
  test('is made at the first start, for its owner alone, and then stays', async () => {
    const first = await open();
    assert.equal(first.algorithm, 'ES256');
    assert.deepEqual(await readdir(folder), ['sa.key']);
    assert.equal((await stat(join(folder, 'sa.key'))).mode & 0o777, 0o600);
    const again = await open();
    assert.equal(again.id, first.id);
    assert.ok(again.publicKey.equals(first.publicKey));
    assert.equal(log.text(), '');
  });

  test('is one, however many start at once', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, open));
    assert.equal(new Set(keys.map(({ id }) => id)).size, 1);
    assert.deepEqual(await readdir(folder), ['sa.key']);
  });

  test('that others could read is closed again', async () => {
    const { id } = await open();
    await chmod(join(folder, 'sa.key'), 0o644);
    assert.equal((await open()).id, id);
    assert.equal((await stat(join(folder, 'sa.key'))).mode & 0o777, 0o600);
    assert.match(log.text(), /a key was open to other users/);
  });

  test('may be one that an operator brought along', async () => {
    for (const [pem, algorithm] of [
      [pemOf('rsa', {}), 'RS256'],
      [pemOf('ec', { namedCurve: 'P-384' }), 'ES384'],
      [pemOf('ec', { namedCurve: 'P-521' }), 'ES512'],
    ] as const) {
      await put(pem);
      assert.equal((await open()).algorithm, algorithm);
    }
  });

  test('that cannot be used is left alone for a person to see', async () => {
    for (const pem of [
      '',
      'no key',
      pemOf('rsa', { modulusLength: 1024 }),
      pemOf('ec', { namedCurve: 'secp256k1' }),
    ]) {
      await put(pem);
      await assert.rejects(open(), (error) => {
        assert.ok(error instanceof ExitError);
        assert.equal(error.exitCode, exitCodes.configuration);
        assert.match(error.message, /sa\.key cannot be used: .*Restore it from a backup/);
        assert.ok(pem === '' || !error.message.includes(pem), 'and does not show what is in it');
        return true;
      });
      assert.equal(await readFile(join(folder, 'sa.key'), 'utf8'), pem);
    }
  });

  test('that cannot be written is told of', async () => {
    folder = join(temporary.path, 'nowhere');
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof ExitError);
      assert.equal(error.exitCode, exitCodes.unwritable);
      assert.match(error.message, /cannot write .*sa\.key/);
      return true;
    });
  });
});

describe('keys of before', () => {
  test('are those that were moved aside, private or public', async () => {
    const first = await open();
    await rename(join(folder, 'sa.key'), join(folder, 'sa-2026.key'));
    const pem = pemOf('rsa', {});
    await writeFile(
      join(folder, 'sa-other.pub'),
      createPublicKey(pem).export({ format: 'pem', type: 'spki' }),
    );
    const next = await open();
    assert.notEqual(next.id, first.id);
    assert.deepEqual(
      next.previous.map(({ algorithm }) => algorithm),
      ['ES256', 'RS256'],
    );
    assert.equal(next.previous[0]?.id, first.id);
  });

  test('that cannot be used are told by name, not passed over', async () => {
    await writeFile(join(folder, 'sa-broken.pub'), 'x');
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof ExitError);
      assert.equal(error.exitCode, exitCodes.configuration);
      assert.match(error.message, /sa-broken\.pub cannot be used to check tokens/);
      return true;
    });
  });
});
