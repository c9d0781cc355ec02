import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FolderDiff, FolderEntry } from '../../../../src/base/folder-watch/index.ts';
import { watchFolder } from '../../../../src/base/folder-watch/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';

/*
 * Whatever is done to a folder, soon afterwards the view is what is in it, and whoever has only listened to the changes
 * knows the same. There is no rescan while a run lasts: all of it comes from what the kernel tells.
 */

const paths = ['a', 'b', 'sub', 'sub/a', 'sub/b', 'sub/deep', 'sub/deep/a', 'other', 'other/a', '..data'];
const path = fc.constantFrom(...paths);
const text = fc.string({ maxLength: 8 });

type Step = readonly [what: string, run: (root: string) => Promise<void>];

let writes = 0;
const at = (root: string, name: string) => join(root, name);

function write([name, content]: [string, string]): Step {
  return [`write ${name}`, (root) => writeFile(at(root, name), content)];
}

function replace([name, content]: [string, string]): Step {
  return [
    `replace ${name}`,
    async (root) => {
      const temporary = at(root, `tmp${writes++}`);
      await writeFile(temporary, content);
      await rename(temporary, at(root, name));
    },
  ];
}

function move([from, to]: [string, string]): Step {
  return [`move ${from} ${to}`, (root) => rename(at(root, from), at(root, to))];
}

function remove(name: string): Step {
  return [`remove ${name}`, (root) => unlink(at(root, name))];
}

function removeAll(name: string): Step {
  return [`remove all ${name}`, (root) => rm(at(root, name), { recursive: true })];
}

function link([target, name]: [string, string]): Step {
  return [`link ${name} to ${target}`, (root) => symlink(target, at(root, name))];
}

function swapLink([target, name]: [string, string]): Step {
  return [
    `swap link ${name} to ${target}`,
    async (root) => {
      const temporary = at(root, `tmp${writes++}`);
      await symlink(target, temporary);
      await rename(temporary, at(root, name));
    },
  ];
}

const removeRoot: Step = ['remove the root', (root) => rm(root, { recursive: true })];

const remakeRoot: Step = [
  'remake the root',
  async (root) => {
    await rm(root, { recursive: true, force: true });
    await mkdir(root);
    await writeFile(at(root, 'a'), 'anew');
  },
];

const moveRoot: Step = [
  'put another root in place',
  async (root) => {
    await mkdir(`${root}.next`);
    await writeFile(join(`${root}.next`, 'b'), 'of the next');
    await rename(root, `${root}.old${writes++}`);
    await rename(`${root}.next`, root);
  },
];

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(path, text).map(write) },
  { weight: 3, arbitrary: fc.tuple(path, text).map(replace) },
  { weight: 2, arbitrary: fc.tuple(path, path).map(move) },
  { weight: 2, arbitrary: path.map(remove) },
  { weight: 2, arbitrary: fc.tuple(path, path).map(link) },
  { weight: 2, arbitrary: fc.tuple(path, path).map(swapLink) },
  { weight: 3, arbitrary: path.map((name): Step => [`mkdir ${name}`, (root) => mkdir(at(root, name))]) },
  { weight: 1, arbitrary: path.map((name): Step => [`rmdir ${name}`, (root) => rmdir(at(root, name))]) },
  { weight: 1, arbitrary: path.map(removeAll) },
  { weight: 1, arbitrary: fc.constant(removeRoot) },
  { weight: 1, arbitrary: fc.constant(remakeRoot) },
  { weight: 1, arbitrary: fc.constant(moveRoot) },
  { weight: 2, arbitrary: fc.nat(60).map((ms): Step => [`pause ${ms}`, () => systemClock.sleep(ms)]) },
);

/** What a person would say is in the folder: by path its kind and, of a file, its content. */
function truth(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (below: string) => {
    let names: string[] = [];
    try {
      names = readdirSync(join(root, below));
    } catch {
      return;
    }
    for (const name of names) {
      const here = below === '' ? name : `${below}/${name}`;
      const own = lstatSync(join(root, here));
      found[here] = `${own.isSymbolicLink() ? 'link to ' : ''}${contentOf(join(root, here))}`;
      if (own.isDirectory()) visit(here);
    }
  };
  visit('');
  return found;
}

function contentOf(file: string): string {
  try {
    const facts = statSync(file);
    if (facts.isDirectory()) return 'folder';
    return facts.isFile() ? `file ${JSON.stringify(readFileSync(file, 'utf8'))}` : 'other';
  } catch {
    return 'other';
  }
}

/** One who reads a file only when told of a change. */
function follower(root: string) {
  const known: Record<string, string> = {};
  const read = ({ path: name, kind, link: isLink }: FolderEntry) => {
    const content = kind === 'file' ? contentOf(join(root, name)) : kind;
    known[name] = `${isLink === true ? 'link to ' : ''}${content}`;
  };
  return {
    known,
    hear({ added, changed, removed }: FolderDiff) {
      for (const entry of removed) delete known[entry.path];
      for (const entry of [...added, ...changed]) read(entry);
    },
  };
}

const isSame = (a: object, b: object) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

const skipped = ['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EINVAL', 'ELOOP', 'ERR_FS_EISDIR'];

async function perform(steps: readonly Step[], root: string): Promise<void> {
  for (const [, run] of steps) {
    try {
      await run(root);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      assert.ok(skipped.includes(code), `a step of the test failed with ${code}`);
    }
  }
}

test('after any sequence of file operations the view equals the folder', async () => {
  const sequences = fc.array(step, { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      await using folder = await temporaryFolder();
      const root = join(folder.path, 'watched');
      await mkdir(root);
      const watch = watchFolder({
        ...{ folder: root, depth: 5, settleMs: 10, pollMs: 30, rescanMs: 3_600_000 },
        ...{ log: silentLogger(), clock: systemClock },
      });
      const { known, hear } = follower(root);
      using _listening = watch.onChange(hear);
      const stop = new AbortController();
      const started = Promise.withResolvers<void>();
      const running = watch.run(stop.signal, started.resolve);
      try {
        await started.promise;
        await perform(steps, root);
        await waitFor(`the view after ${steps.map(([what]) => what).join(', ')}`, () =>
          isSame(known, truth(root)),
        );
        assert.deepEqual([...(watch.view?.entries.keys() ?? [])].sort(), Object.keys(truth(root)).sort());
      } finally {
        stop.abort();
        await running;
      }
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
});
