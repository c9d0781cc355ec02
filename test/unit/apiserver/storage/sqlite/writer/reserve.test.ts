import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Reserve } from '../../../../../../src/apiserver/storage/sqlite/writer/reserve.ts';
import { temporaryFolder } from '../../../../../support/index.ts';

const mebibyte = 1024 * 1024;

describe('the reserve', () => {
  test('is taken piece by piece, for its owner only, and found again', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'store.reserve');
    const reserve = new Reserve(file, 2.5 * mebibyte);
    for (const size of [1, 2, 2.5]) {
      assert.equal(reserve.isWhole, false);
      assert.equal(reserve.grow(), true);
      assert.equal(statSync(file).size, size * mebibyte);
    }
    assert.equal(reserve.isWhole, true);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(statSync(file).blocks * 512 >= 2.5 * mebibyte, 'it takes room indeed');
    assert.equal(new Reserve(file, 2.5 * mebibyte).isWhole, true);
  });

  test('is given back as a whole, once', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'store.reserve');
    const reserve = new Reserve(file, mebibyte);
    reserve.grow();
    assert.equal(reserve.release(), true);
    assert.equal(existsSync(file), false);
    assert.deepEqual([reserve.release(), reserve.bytes, reserve.isWhole], [false, 0, false]);
  });

  test('leaves the disk as much again, and leaves nothing after looking for room', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'store.reserve');
    const reserve = new Reserve(file, 2 ** 60);
    assert.equal(reserve.grow(), false);
    assert.equal(reserve.probe(), true);
    assert.equal(existsSync(file), false);
  });

  test('of nothing is whole and never takes anything', async () => {
    await using folder = await temporaryFolder();
    assert.equal(new Reserve(join(folder.path, 'store.reserve'), 0).isWhole, true);
  });
});
