import assert from 'node:assert/strict';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { KeyPair } from '../../../../src/agent/checkpoint/sealing/index.ts';
import {
  checkRecipient,
  createKeyPair,
  noEncryption,
  openArchive,
  readIdentities,
  readRecipients,
  sealFile,
} from '../../../../src/agent/checkpoint/sealing/index.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const going = new AbortController().signal;
let folder: TemporaryFolder;
let [one, other]: KeyPair[] = [];
before(async () => {
  folder = await temporaryFolder();
  [one, other] = [await createKeyPair(), await createKeyPair()];
});
after(() => folder[Symbol.asyncDispose]());

const pair = (made: KeyPair | undefined): KeyPair => {
  assert.ok(made);
  return made;
};
const file = (name: string) => join(folder.path, name);

async function sealed(plain: Uint8Array, recipients: readonly string[]): Promise<Buffer> {
  const [from, to] = [file(`${crypto.randomUUID()}.tar`), file(`${crypto.randomUUID()}.age`)];
  await writeFile(from, plain);
  await sealFile({ from, to, recipients }, going);
  return await readFile(to);
}

async function opened(bytes: Uint8Array, { identity }: KeyPair): Promise<Buffer> {
  const path = file(crypto.randomUUID());
  await writeFile(path, bytes);
  await using from = await open(path);
  const pieces: Uint8Array[] = [];
  const write = async (piece: Uint8Array) => void pieces.push(piece.slice());
  await openArchive(from, { identities: [identity], write });
  return Buffer.concat(pieces);
}

describe('a recipient', () => {
  test('is checked without the library, which agrees', () => {
    assert.equal(checkRecipient(pair(one).recipient), undefined);
    for (const [text, why] of [
      ['', /begins with age1/],
      ['age1', /has 4 letters, not 62/],
      [pair(one).recipient.toUpperCase(), /in small letters/],
      [`${pair(one).recipient}q`, /has 63 letters/],
      ['age1pq1abc', /is no X25519 recipient/],
    ] as const) {
      assert.match(checkRecipient(text) ?? '', why);
    }
  });

  test('that is a secret key is not shown', () => {
    const { identity } = pair(one);
    assert.match(checkRecipient(identity) ?? '', /^this is a secret key/);
    assert.ok(!(checkRecipient(identity) ?? '').includes(identity.slice(20)));
  });

  test('with any one letter mistyped is refused', () => {
    const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    const { recipient } = pair(one);
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 61 }), fc.constantFrom(...letters), (at, letter) => {
        const typed = `${recipient.slice(0, at)}${letter}${recipient.slice(at + 1)}`;
        assert.equal(checkRecipient(typed) === undefined, typed === recipient);
      }),
    );
  });

  test('may stand in a file, which must name somebody', async () => {
    const recipientsFile = file('recipients');
    const both = { recipients: [pair(one).recipient], recipientsFile };
    await writeFile(recipientsFile, `# people\n\n ${pair(other).recipient} \n${pair(one).recipient}\n`);
    assert.deepEqual(await readRecipients(both), [pair(one).recipient, pair(other).recipient]);
    await writeFile(recipientsFile, '# nobody\n');
    await assert.rejects(readRecipients(both), { message: `${recipientsFile} names no recipient` });
    await writeFile(recipientsFile, `\nage1x\n`);
    await assert.rejects(readRecipients(both), { message: /recipients:2: "age1x" is no X25519 recipient/ });
    await assert.rejects(readRecipients({ ...both, recipientsFile: file('absent') }), { code: 'ENOENT' });
    assert.deepEqual(await readRecipients(noEncryption), []);
  });
});

describe('a sealed archive', () => {
  test('comes back as it was, for each recipient, whatever its length', async () => {
    const recipients = [pair(one).recipient, pair(other).recipient];
    for (const size of [0, 1, 65_535, 65_536, 65_537, 262_144, 1_000_000]) {
      const plain = Buffer.alloc(size, 'abcdefg');
      const bytes = await sealed(plain, recipients);
      assert.ok(plain.equals(await opened(bytes, pair(one))), `${size}`);
      assert.ok(plain.equals(await opened(bytes, pair(other))), `${size}`);
    }
  });

  test('is private, and its digest and length are told', async () => {
    const [from, to] = [file('a.tar'), file('a.tar.age')];
    await writeFile(from, 'x'.repeat(1000));
    const { sizeBytes, sha256 } = await sealFile({ from, to, recipients: [pair(one).recipient] }, going);
    assert.equal((await stat(to)).mode & 0o777, 0o600);
    assert.equal((await stat(to)).size, sizeBytes);
    assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.equal((await readFile(from)).length, 1000);
  });

  test('is for nobody else', async () => {
    const bytes = await sealed(Buffer.from('secret'), [pair(one).recipient]);
    assert.ok(!bytes.includes('secret'));
    await assert.rejects(opened(bytes, pair(other)), {
      message: 'it is sealed for others: no identity fits',
    });
  });

  test('with any byte changed, or cut off anywhere, is refused', async () => {
    const plain = Buffer.alloc(70_000, 'nodeward');
    const bytes = await sealed(plain, [pair(one).recipient]);
    const refused = { name: 'SealError' };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(300), fc.nat(bytes.length - 1), fc.integer({ min: 65_700, max: 65_800 })),
        fc.integer({ min: 1, max: 255 }),
        async (at, change) => {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ change;
          await assert.rejects(opened(changed, pair(one)), refused);
          await assert.rejects(opened(bytes.subarray(0, at), pair(one)), refused);
        },
      ),
      { numRuns: 40 },
    );
    await assert.rejects(opened(Buffer.concat([bytes, Buffer.from('x')]), pair(one)), refused);
  });

  test('that is a plain one is told so', async () => {
    await assert.rejects(opened(Buffer.from('plain'), pair(one)), {
      message: 'it is not sealed in the age format',
    });
  });

  test('leaves nothing when the plain one cannot be read, or when it is given up', async () => {
    const recipients = [pair(one).recipient];
    const left = async () => (await readdir(folder.path)).filter((name) => name.startsWith('never'));
    const absent = sealFile({ from: file('absent'), to: file('never.age'), recipients }, going);
    await assert.rejects(absent, { message: /^the archive cannot be sealed: ENOENT/ });
    await writeFile(file('large'), Buffer.alloc(32 * 1024 * 1024));
    const cancel = new AbortController();
    const given = sealFile({ from: file('large'), to: file('never.age'), recipients }, cancel.signal);
    cancel.abort();
    await assert.rejects(given, { message: 'given up while the archive was sealed' });
    assert.deepEqual(await left(), []);
  });
});

describe('identities', () => {
  test('are read as the age tool writes them; what is no identity is not shown', async () => {
    const path = file('key');
    await writeFile(
      path,
      `# created: today\n# public key: x\n${pair(one).identity}\n\n${pair(other).identity}\n`,
    );
    assert.deepEqual(await readIdentities(path), [pair(one).identity, pair(other).identity]);
    await writeFile(path, `# a\nSECRET\n`);
    await assert.rejects(
      readIdentities(path),
      (error: Error) => /key:2: /.test(error.message) && !error.message.includes('SECRET\n'),
    );
    await writeFile(path, '# nothing\n');
    await assert.rejects(readIdentities(path), { message: `${path} has no identity in it` });
  });

  test('that are mistyped are told so', async () => {
    const { identity } = pair(one);
    const mistyped = {
      ...pair(one),
      identity: `${identity.slice(0, -1)}${identity.endsWith('Q') ? 'P' : 'Q'}`,
    };
    const bytes = await sealed(Buffer.from('x'), [pair(one).recipient]);
    await assert.rejects(opened(bytes, mistyped), {
      message: 'the identity is mistyped: its checksum is wrong',
    });
  });
});
