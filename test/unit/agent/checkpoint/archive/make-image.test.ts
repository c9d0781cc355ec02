import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makeImage } from '../../../../../src/agent/checkpoint/archive/index.ts';
import { isImageName, isRecord } from '../../../../../src/api/index.ts';
import { runSuccessfully, temporaryFolder } from '../../../../support/index.ts';
import { checkpoint, tar } from './archives.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 5000) yield bytes.subarray(at, at + 5000);
}

async function make(name: string, bytes: Uint8Array, asked?: string, replace = false) {
  const output = join(folder.path, name);
  const made = await makeImage(pieces(bytes), {
    what: 'it',
    output,
    replace,
    name: asked,
    runtimeVersion: '2.1.9',
  });
  return { output, ...made };
}

/** Unpacked by another program. */
async function unpacked(path: string) {
  const home = await temporaryFolder();
  after(() => home[Symbol.asyncDispose]());
  await runSuccessfully('tar', ['-xf', path, '-C', home.path]);
  const bytes = (name: string) => readFile(join(home.path, name));
  return { bytes, json: async (name: string): Promise<unknown> => JSON.parse(String(await bytes(name))) };
}

const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce((here: unknown, key) => {
    if (Array.isArray(here)) return here[Number(key)];
    return isRecord(here) ? here[String(key)] : undefined;
  }, value);

const archive = tar(checkpoint());

describe('an image of a checkpoint', () => {
  test('is an OCI layout whose only layer is the archive, each blob under its digest', async () => {
    const { output, digest, layerDigest, bytes } = await make('layout.tar', archive);
    const { mode, size } = await stat(output);
    assert.deepEqual([mode & 0o7777, size], [0o600, bytes]);
    const layout = await unpacked(output);
    assert.deepEqual(await layout.json('oci-layout'), { imageLayoutVersion: '1.0.0' });
    const index = await layout.json('index.json');
    assert.equal(at(index, 'manifests', 0, 'digest'), digest);
    const blob = async (wanted: string) => {
      const found = await layout.bytes(`blobs/${wanted.replace(':', '/')}`);
      assert.equal(`sha256:${sha256(found)}`, wanted);
      return found;
    };
    const manifest: unknown = JSON.parse(String(await blob(digest)));
    assert.equal(at(manifest, 'layers', 0, 'digest'), layerDigest);
    assert.equal(at(manifest, 'layers', 0, 'size'), archive.length);
    assert.deepEqual(await blob(layerDigest), archive);
    const config: unknown = JSON.parse(String(await blob(String(at(manifest, 'config', 'digest')))));
    assert.deepEqual(at(config, 'rootfs', 'diff_ids'), [layerDigest]);
    assert.deepEqual([at(config, 'architecture'), at(config, 'os')], ['amd64', 'linux']);
  });

  test('carries the annotations by which runtimes know it, and its name', async () => {
    const { output, name, digest } = await make('named.tar', archive);
    assert.equal(name, 'localhost/checkpoint/default/web/main:20260102T030506Z');
    assert.ok(isImageName(name));
    const layout = await unpacked(output);
    const annotations = at(await layout.json(`blobs/${digest.replace(':', '/')}`), 'annotations');
    assert.equal(at(annotations, 'org.criu.checkpoint.container.name'), 'main');
    assert.equal(at(annotations, 'io.kubernetes.cri-o.annotations.checkpoint.name'), 'main');
    assert.equal(at(annotations, 'org.criu.checkpoint.rootfsImageName'), 'localhost/app:1');
    const index = await layout.json('index.json');
    assert.equal(at(index, 'manifests', 0, 'annotations', 'io.containerd.image.name'), name);
    assert.equal((await make('other.tar', archive, 'localhost/app:2')).name, 'localhost/app:2');
  });

  test('is the same for the same archive, and replaces an older one only when it is told to', async () => {
    const first = await make('again.tar', archive);
    const before = await readFile(first.output);
    await writeFile(first.output, 'something older');
    await assert.rejects(make('again.tar', archive), { code: 'EEXIST' });
    assert.equal(await readFile(first.output, 'utf8'), 'something older');
    await make('again.tar', archive, undefined, true);
    assert.deepEqual(await readFile(first.output), before);
  });

  test('is not made of half an archive or of something else, and nothing is left', async () => {
    const before = await readdir(folder.path);
    await assert.rejects(make('half.tar', archive.subarray(0, archive.length - 5000)), /it is not whole/);
    await assert.rejects(make('none.tar', Buffer.alloc(5000, 'a')), /it is no tar archive/);
    assert.deepEqual(await readdir(folder.path), before);
  });
});

test('names of images are told from other texts', () => {
  for (const name of [
    'a:1',
    'localhost/a/b-c:1',
    'host.example:5000/a:v1.2',
    '127.0.0.1:5000/a:b',
    '[::1]:5000/a:1',
  ]) {
    assert.ok(isImageName(name), name);
  }
  for (const name of [
    '',
    'a',
    'a:',
    ':1',
    'A/b',
    'a//b:1',
    '../a:1',
    'a:1@sha256:00',
    'a b:1',
    'a/b:1\n',
    `a:${'1'.repeat(129)}`,
  ]) {
    assert.ok(!isImageName(name), name);
  }
});
