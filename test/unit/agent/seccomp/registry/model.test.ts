import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorCode } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import type { SampleRegistry } from './sample-registry.ts';
import { good, other, sampleRegistry } from './sample-registry.ts';

const name = fc.constantFrom('a.json', 'b.json', 'sub/a.json', 'sub/b.json', 'sub/deep/a.json');
const operation = fc.oneof(
  fc.record({ kind: fc.constant('write'), path: name, content: fc.constantFrom(good, other, 'broken') }),
  fc.record({ kind: fc.constant('replace'), path: name, content: fc.constantFrom(good, other, 'broken') }),
  fc.record({ kind: fc.constant('rename'), path: name, to: name }),
  fc.record({ kind: fc.constant('link'), path: name, to: name }),
  fc.record({ kind: fc.constant('remove'), path: name }),
  fc.record({ kind: fc.constant('removeFolder'), path: fc.constantFrom('', 'sub', 'sub/deep') }),
  fc.record({ kind: fc.constant('wait') }),
);

type Operation = { kind: string; path?: string; to?: string; content?: string };

/** What cannot be done in this order, such as to rename what is not there, is left out. */
async function carryOut(
  folder: string,
  { kind, path = '', to = '', content = '' }: Operation,
): Promise<void> {
  const at = join(folder, path);
  await mkdir(join(folder, 'sub/deep'), { recursive: true });
  try {
    if (kind === 'write') await writeFile(at, content);
    else if (kind === 'replace') {
      await writeFile(join(folder, '.next'), content);
      await rename(join(folder, '.next'), at);
    } else if (kind === 'rename') await rename(at, join(folder, to));
    else if (kind === 'link') await symlink(join(folder, to), at);
    else if (kind === 'remove') await rm(at);
    else if (kind === 'removeFolder') await rm(at, { recursive: true, force: true });
    else await new Promise((resolve) => setTimeout(resolve, 30));
  } catch (error) {
    if (!['ENOENT', 'EEXIST', 'ELOOP', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** What the folder holds, by looking at it plainly. */
async function truth(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const isFile = await stat(path).then(
      (facts) => facts.isFile(),
      () => false,
    );
    const key = path.slice(folder.length + 1);
    if (entry.name.endsWith('.json') && !entry.name.startsWith('.')) {
      found[key] = isFile
        ? createHash('sha256')
            .update(await readFile(path))
            .digest('hex')
        : 'unreadable';
    }
  }
  return found;
}

function seen({ registry }: SampleRegistry): Record<string, string> {
  return Object.fromEntries(
    registry.profiles().map(({ path, verdict }) => {
      const isJudged = verdict !== undefined && 'digest' in verdict;
      return [path, isJudged ? verdict.digest.slice('sha256:'.length) : (verdict?.kind ?? 'none')];
    }),
  );
}

test('whatever is done to the folder, once it is at rest the registry says what is in it', async () => {
  await using sample = await sampleRegistry({ patienceMs: 100 });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 25 }), async (operations) => {
      for (const each of operations) await carryOut(sample.folder, each);
      const expected = await truth(sample.folder);
      try {
        await waitFor('the registry to agree', () => {
          assert.deepEqual(seen(sample), expected);
          return sample.registry.profiles().every(({ isSettling }) => !isSettling);
        });
      } catch {
        assert.deepEqual(seen(sample), expected);
      }
    }),
    { numRuns: 12 },
  );
});
