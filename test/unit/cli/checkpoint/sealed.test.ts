import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { sealFile } from '../../../../src/agent/checkpoint/sealing/index.ts';
import { exitCodes } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { checkpoint, tar } from '../../agent/checkpoint/archive/archives.ts';
import { runCommandLine } from '../run-command.ts';

const id = 'checkpoint-web_shop-main-2025-11-21T10:03:04.005000000Z';
const plain = Buffer.alloc(200_000, 'nodeward');

/** A sealed archive with its sidecar, and its key. */
async function lab(sha256 = createHash('sha256').update(plain).digest('hex')) {
  const folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const { stdout: recipient, code } = await runCommandLine([
    'checkpoint',
    'keygen',
    '--output-file',
    at('key'),
  ]);
  assert.equal(code, 0);
  await writeFile(at('plain'), plain);
  const sealed = at(`${id}.tar.age`);
  const going = new AbortController().signal;
  const { sizeBytes } = await sealFile(
    { from: at('plain'), to: sealed, recipients: [recipient.trim()] },
    going,
  );
  const texts = [
    'node',
    'namespace',
    'pod',
    'podUid',
    'container',
    'containerId',
    'image',
    'imageRef',
    'criuVersion',
  ];
  const more = ['startedAt', 'finishedAt', 'pausedMeasuredBy', 'requester', 'nodewardVersion'];
  const record = {
    ...Object.fromEntries([...texts, ...more].map((name) => [name, 'x'])),
    ...{
      formatVersion: 1,
      id,
      archive: `${id}.tar.age`,
      sha256: '0'.repeat(64),
      sizeBytes,
      durationMs: 1,
      pausedMs: 1,
    },
    runtime: { name: '', version: '' },
    sealed: {
      format: 'age',
      recipients: [recipient.trim()],
      plainSha256: sha256,
      plainSizeBytes: plain.length,
    },
  };
  await writeFile(at(`${id}.json`), JSON.stringify(record));
  const names = () => readdir(folder.path);
  return { at, sealed, key: at('key'), names, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const run = (...args: string[]) => runCommandLine(['checkpoint', 'open', ...args]);

describe('checkpoint keygen', () => {
  test('writes a private key, prints its recipient, and replaces no file', async () => {
    await using at = await lab();
    assert.equal((await stat(at.key)).mode & 0o777, 0o600);
    const text = await readFile(at.key, 'utf8');
    assert.match(text, /^# created: .*\n# public key: age1[a-z0-9]{58}\nAGE-SECRET-KEY-1[A-Z0-9]{58}\n$/);
    const again = await runCommandLine(['checkpoint', 'keygen', '--output-file', at.key]);
    assert.equal(again.code, exitCodes.usage);
    assert.equal(await readFile(at.key, 'utf8'), text);
    assert.equal((await runCommandLine(['checkpoint', 'keygen'])).code, exitCodes.usage);
  });
});

describe('checkpoint open', () => {
  test('decrypts beside the sealed archive, or where it is told, without an agent', async () => {
    await using at = await lab();
    const beside = await run(at.sealed, '--identity', at.key);
    assert.deepEqual([beside.code, beside.stderr], [0, '']);
    assert.equal(beside.stdout, `${at.at(`${id}.tar`)}\n`);
    assert.ok(plain.equals(await readFile(at.at(`${id}.tar`))));
    assert.equal((await stat(at.at(`${id}.tar`))).mode & 0o777, 0o600);
    const taken = await run(at.sealed, '-i', at.key);
    assert.equal(taken.code, exitCodes.usage);
    assert.match(taken.stderr, /is there already; replace it with --force\n$/);
    assert.equal((await run(at.sealed, '-i', at.key, '--force')).code, 0);
    const piped = await run(at.sealed, '-i', at.key, '--output-file', '-');
    assert.equal(piped.stdout, plain.toString());
  });

  test('ends when nobody reads its output any more', async () => {
    await using at = await lab();
    const reader = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('EPIPE'), { code: 'EPIPE' })),
    });
    reader.on('error', () => undefined);
    const { code, stderr } = await runCommandLine(
      ['checkpoint', 'open', at.sealed, '-i', at.key, '--output-file', '-'],
      '',
      reader,
    );
    assert.equal(code, exitCodes.unwritable);
    assert.equal(stderr, 'nodeward: standard output takes nothing any more\n');
  });

  test('refuses what is cut off or changed, and leaves no part of it', async () => {
    await using at = await lab();
    const bytes = await readFile(at.sealed);
    const before = await at.names();
    await truncate(at.sealed, bytes.length - 1);
    const cut = await run(at.sealed, '-i', at.key);
    assert.deepEqual(
      [cut.code, cut.stderr],
      [exitCodes.failed, `nodeward: ${at.sealed} cannot be opened: it is damaged, cut off, or was changed\n`],
    );
    bytes[bytes.length - 100_000] = 1 ^ (bytes[bytes.length - 100_000] ?? 0);
    await writeFile(at.sealed, bytes);
    assert.equal((await run(at.sealed, '-i', at.key)).code, exitCodes.failed);
    const piped = await run(at.sealed, '-i', at.key, '--output-file', '-');
    assert.deepEqual([piped.code, piped.stdout], [exitCodes.failed, '']);
    assert.deepEqual(await at.names(), before);
  });

  test('refuses what is not the archive that the sidecar tells of', async () => {
    await using at = await lab('f'.repeat(64));
    const before = await at.names();
    const { code, stderr } = await run(at.sealed, '-i', at.key);
    assert.equal(code, exitCodes.failed);
    assert.match(
      stderr,
      /is not what its sidecar says: the archive in it has the SHA-256 [0-9a-f]{64}, not f{64}\n$/,
    );
    assert.deepEqual(await at.names(), before);
  });

  test('tells what is wrong with the files that it is given', async () => {
    await using at = await lab();
    await writeFile(at.at('bad'), 'nonsense\n');
    await runCommandLine(['checkpoint', 'keygen', '--output-file', at.at('other')]);
    for (const [args, code, why] of [
      [[at.sealed], exitCodes.usage, /required option '-i, --identity <file>' not specified/],
      [
        [at.at('none.tar.age'), '-i', at.key],
        exitCodes.configuration,
        /none\.tar\.age cannot be read: there is no such file/,
      ],
      [[at.sealed, '-i', at.at('none')], exitCodes.configuration, /--identity: .*none cannot be used: /],
      [[at.sealed, '-i', at.at('bad')], exitCodes.configuration, /bad:1: this is no X25519 identity/],
      [[at.sealed, '-i', at.at('other')], exitCodes.failed, /it is sealed for others: no identity fits/],
      [
        [at.at('plain'), '-i', at.key],
        exitCodes.failed,
        /plain cannot be opened: it is not sealed; use it as it is/,
      ],
      [
        [at.at('plain'), '-i', at.key, '--output-file', at.at('x')],
        exitCodes.failed,
        /it is not sealed; use it as it is/,
      ],
      [
        [at.sealed, '-i', at.key, '--output-file', at.at('no/where')],
        exitCodes.unwritable,
        /no\/where cannot be written: ENOENT/,
      ],
    ] as const) {
      const end = await run(...args);
      assert.match(end.stderr, why);
      assert.equal(end.code, code, end.stderr);
    }
    // one key that fits among others is enough
    assert.equal((await run(at.sealed, '-i', at.at('other'), '-i', at.key)).code, 0);
  });
});

describe('inspect, diff and image of a sealed archive', () => {
  test('take --identity, and write nothing plain to disk', async () => {
    await using at = await lab();
    const { stdout: recipient } = await runCommandLine([
      'checkpoint',
      'keygen',
      '--output-file',
      at.at('own'),
    ]);
    const [from, to] = [at.at('archive.tar'), at.at('archive.tar.age')];
    await writeFile(from, tar(checkpoint()));
    await sealFile({ from, to, recipients: [recipient.trim()] }, new AbortController().signal);
    const before = await at.names();
    const of = (...args: string[]) => runCommandLine(['checkpoint', ...args]);
    const inspected = await of('inspect', to, '-i', at.at('own'));
    assert.equal(inspected.code, 0, inspected.stderr);
    assert.equal(inspected.stdout, (await of('inspect', from)).stdout);
    assert.equal((await of('diff', from, to, '--identity', at.at('own'))).stdout, 'nothing changed\n');
    assert.deepEqual(await at.names(), before);
    assert.equal((await of('image', to, '-i', at.at('own'), '--output-file', at.at('layout'))).code, 0);
    const without = await of('inspect', to);
    assert.match(without.stderr, /is encrypted/);
    const wrong = await of('inspect', to, '-i', at.key);
    assert.match(wrong.stderr, /sealed for others: no identity fits/);
  });
});
