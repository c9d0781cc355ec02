/**
 * The disk of a store after a power cut. One run is recorded, call by call; then the folder is built as a disk would
 * hold it that lost its power after this or that call, and opened: what was answered must be there, and nothing else.
 */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { openSqlite } from '../../src/apiserver/storage/index.ts';
import { runSuccessfully, temporaryFolder } from '../support/index.ts';
import { fetched } from './lab/index.ts';
import type { Leaves, Random } from './storage/disk-model.ts';
import { Disk } from './storage/disk-model.ts';
import { contentOf, keyOf, stepsOf, writers } from './storage/recorded-steps.ts';
import type { DiskCall } from './storage/strace-log.ts';
import { parseStrace, recordedCalls } from './storage/strace-log.ts';

const storeFolder = 'storage';
const files = ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-journal', 'store.reserve'];
const cuts = 120;

/** The last step of each writer that was answered, and the highest revision told. */
class Answered {
  readonly steps = new Array<number>(writers).fill(0);
  revision = 0;

  note(lines: string): void {
    for (const line of lines.trim().split('\n')) {
      const [writer = 0, step = 0, revision = 0] = line.split(' ').map(Number);
      this.steps[writer] = step;
      this.revision = Math.max(this.revision, revision);
    }
  }
}

let calls: readonly DiskCall[] = [];

before(async () => {
  await using home = await temporaryFolder('power-');
  calls = await record(home.path);
});

describe('a power cut', () => {
  test('the record is worth it: it holds commits, several checkpoints, a shrunk file, and two openings', () => {
    const count = (what: string, name: string) =>
      calls.filter((call) => call.what === what && call.name === name).length;
    assert.ok(count('sync', 'store.sqlite-wal') > 50, 'commits');
    assert.ok(count('sync', 'store.sqlite') > 5, 'checkpoints');
    assert.ok(count('truncate', 'store.sqlite') >= 1, 'room that was given back');
    assert.ok(count('unlink', 'store.sqlite-wal') >= 2, 'closed in between');
    assert.ok(count('write', 'answers') === writers * 70, 'every step was answered');
  });

  for (const leaves of ['nothing', 'everything', 'anything'] as const) {
    test(`that leaves ${leaves} of what was not synced, after any call`, { timeout: 300_000 }, async (t) => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      t.diagnostic(`seed ${seed}`);
      await cutMany(leaves, randomFrom(seed));
    });
  }
});

/** Runs the writer under strace, and gives what it did to the store's folder. */
async function record(home: string): Promise<DiskCall[]> {
  const [folder, answers, log] = [join(home, storeFolder), join(home, 'answers'), join(home, 'strace.log')];
  const paths = [folder, ...files.map((name) => join(folder, name)), answers].flatMap((path) => ['-P', path]);
  const program = [
    process.execPath,
    join(import.meta.dirname, 'storage/recorded-writer.ts'),
    folder,
    answers,
  ];
  const options = [
    '-f',
    '-y',
    '-xx',
    '-qq',
    '-s',
    String(2 ** 24),
    '-e',
    `trace=${recordedCalls}`,
    '-o',
    log,
  ];
  await runSuccessfully(fetched('strace/bin/strace'), [...options, ...paths, ...program], {
    timeoutMs: 120_000,
  });
  return [...parseStrace((await readFile(log, 'latin1')).trim().split('\n'))];
}

/** Cuts after a random call in each of many stretches of the record. */
async function cutMany(leaves: Leaves, random: Random): Promise<void> {
  await using home = await temporaryFolder('cut-');
  const disk = new Disk(storeFolder);
  const answered = new Answered();
  const chosen = new Set(
    Array.from({ length: cuts }, (_, index) => Math.floor(((index + random()) * calls.length) / cuts)),
  );
  for (const [index, call] of calls.entries()) {
    if (call.name !== 'answers') disk.apply(call);
    else if (call.what === 'write') answered.note(call.bytes.toString());
    if (!chosen.has(index)) continue;
    const folder = join(home.path, `cut-${index}`);
    await disk.cut(folder, leaves, random);
    await checkStore(folder, answered, `after call ${index} of ${calls.length} (${call.what} ${call.name})`);
    await rm(folder, { recursive: true });
  }
}

async function checkStore(folder: string, answered: Answered, when: string): Promise<void> {
  await using store = await openSqlite({ folder, identity: { groupSuffix: 'k8s.io' }, reserveBytes: 0 });
  const revision = await store.revision();
  assert.ok(revision >= answered.revision, `${when}: revision ${revision} after ${answered.revision}`);
  const page = await store.listAt('', revision, '', 0);
  assert.ok(typeof page !== 'string');
  const found = new Map(page.items.map((item) => [item.key, item.value]));
  for (const [writer, step] of answered.steps.entries()) {
    const value = found.get(keyOf(writer));
    const isOneOf = [step, step + 1].some((each) => isAfter(writer, each, value));
    assert.ok(isOneOf, `${when}: writer ${writer} has neither step ${step} nor the next`);
    found.delete(keyOf(writer));
  }
  assert.deepEqual([...found.keys()], [], `${when}: nothing is invented`);
  assert.deepEqual((await store.run('check')).problems, [], when);
  const next = await store.commit({ key: '/registry/after/the/cut', expect: 0, value: new Uint8Array(1) });
  assert.ok(next.ok && next.revision > revision, when);
}

/** Whether this is what a writer's key holds after a step. */
function isAfter(writer: number, step: number, value: Uint8Array | undefined): boolean {
  if (step === 0 || stepsOf(step) === 'delete') return value === undefined;
  return value !== undefined && Buffer.compare(value, contentOf(writer, step)) === 0;
}

/** A reproducible sequence (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
