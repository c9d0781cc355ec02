import assert from 'node:assert/strict';
import { mkdir, open, rename, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { StaticPods } from '../../../../../src/agent/pods/index.ts';
import { createStaticPods } from '../../../../../src/agent/pods/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder, waitFor } from '../../../../support/index.ts';
import { manifest, memoryLog, metrics, namesOf } from '../support.ts';

interface Followed extends AsyncDisposable {
  folder: string;
  statics: StaticPods;
  lines: string[];
  stateOf(file: string): string | undefined;
}

async function follow(
  fill: (at: (name: string) => string) => Promise<unknown>,
  { isStated = true, clock = systemClock }: { isStated?: boolean; clock?: Clock } = {},
): Promise<Followed> {
  const parent = await temporaryFolder();
  const folder = join(parent.path, 'manifests');
  await mkdir(folder);
  await fill((name) => join(folder, name));
  const { log, lines } = memoryLog();
  const statics = createStaticPods({
    ...{ folder, isStated, nodeName: 'n1', rescanMs: 3_600_000, quietMs: 200 },
    ...{ metrics: metrics(), log, clock },
  });
  const stop = new AbortController();
  const started = Promise.withResolvers<void>();
  const running = statics.run(stop.signal, started.resolve);
  await Promise.race([started.promise, running]);
  return {
    folder,
    statics,
    lines,
    stateOf: (name) => statics.verdicts().find(({ file }) => file === name)?.state,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await parent[Symbol.asyncDispose]();
    },
  };
}

/** As if it had been there for long. */
async function writeOld(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await utimes(path, new Date(2020, 1), new Date(2020, 1));
}

describe('static pods', () => {
  test('that are there at start are known when it is ready', async () => {
    await using followed = await follow(async (at) => {
      await writeOld(at('b.yaml'), manifest('b'));
      await writeOld(at('a.yml'), manifest('a'));
      await writeOld(at('.c.yaml.swp'), manifest('c'));
      await writeOld(at('notes.txt'), 'hello');
      await mkdir(at('sub.yaml'));
    });
    const { statics } = followed;
    assert.deepEqual(namesOf(statics.pods()), ['a-n1', 'b-n1']);
    assert.equal(statics.isComplete(), true);
    assert.deepEqual(
      statics.verdicts().map(({ file, state }) => [file, state]),
      [
        ['a.yml', 'accepted'],
        ['b.yaml', 'accepted'],
        ['notes.txt', 'ignored'],
        ['sub.yaml', 'ignored'],
      ],
    );
  });

  test('are ready once, however often they are looked at', async () => {
    await using parent = await temporaryFolder();
    const statics = createStaticPods({
      ...{ folder: parent.path, isStated: true, nodeName: 'n1', rescanMs: 5, quietMs: 10 },
      ...{ metrics: metrics(), log: memoryLog().log, clock: systemClock },
    });
    const stop = new AbortController();
    const ready: true[] = [];
    const running = statics.run(stop.signal, () => void ready.push(true));
    await waitFor('readiness', () => ready.length > 0);
    await writeFile(join(parent.path, 'a.yaml'), manifest('a'));
    await waitFor('the pod', () => statics.pods().length === 1);
    stop.abort();
    await running;
    assert.equal(ready.length, 1);
  });

  test('half written, the last good one stays until the whole is there', async () => {
    let nowMs = 1000; // goes on with the parts: one that comes late on a busy machine is still soon after the last
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    await using followed = await follow((at) => writeOld(at('web.yaml'), manifest('web')), { clock });
    const { statics, folder } = followed;
    const seen: (string | undefined)[] = [];
    using _listening = statics.onChange((pods) => void seen.push(pods[0]?.spec?.containers?.[0]?.image));
    const text = manifest('web', 'app:2', '  hostNetwork: true\n');
    await using file = await open(join(folder, 'web.yaml'), 'w');
    // each part by itself would be a manifest
    for (let at = 0; at < text.length; at += 30) {
      await file.write(text.slice(at, at + 30));
      nowMs += 60;
      await systemClock.sleep(150); // long enough for the watch of the folder to see each part
      assert.equal(statics.pods()[0]?.spec?.containers?.[0]?.image, 'app:1');
      assert.notEqual(followed.stateOf('web.yaml'), 'invalid');
    }
    await waitFor('the new one', () => {
      nowMs += 30;
      return seen.includes('app:2');
    });
    assert.deepEqual(seen, ['app:2']);
    assert.equal(statics.pods()[0]?.spec?.hostNetwork, true);
  });

  test('changed 1,000 times in a row, the last one counts and few of the others', async () => {
    await using followed = await follow((at) => writeOld(at('web.yaml'), manifest('web')));
    const { statics, folder } = followed;
    const seen: (string | undefined)[] = [];
    using _listening = statics.onChange((pods) => void seen.push(pods[0]?.spec?.containers?.[0]?.image));
    for (let count = 1; count <= 1000; count += 1) {
      const broken = count % 7 === 0 ? 'kind: [' : '';
      await writeFile(join(folder, 'web.yaml'), manifest('web', `app:${count}`, broken));
    }
    await waitFor('the last one', () => seen.at(-1) === 'app:1000');
    assert.ok(seen.length < 50, `${seen.length} were seen`);
    assert.equal(statics.pods().length, 1);
  });

  test('wrong in the end, the last good one still counts, and that is told once', async () => {
    await using followed = await follow((at) => writeOld(at('web.yaml'), manifest('web')));
    await writeFile(join(followed.folder, 'web.yaml'), 'kind: Pod\n');
    await waitFor('the verdict', () => followed.stateOf('web.yaml') === 'invalid');
    assert.deepEqual(namesOf(followed.statics.pods()), ['web-n1']);
    const told = followed.lines.filter((line) =>
      /web\.yaml.* is invalid: apiVersion: Unsupported value/.test(line),
    );
    assert.equal(told.length, 1, told.join(''));
    assert.match(told[0] ?? '', /what it said before still counts/);
    await unlink(join(followed.folder, 'web.yaml'));
    await waitFor('its end', () => followed.statics.pods().length === 0);
  });

  test('with one name twice the first file has it, and the other when that goes', async () => {
    await using followed = await follow(async (at) => {
      await writeOld(at('a.yaml'), manifest('web', 'app:1'));
      await writeOld(at('b.yaml'), manifest('web', 'app:2'));
    });
    const { statics, folder } = followed;
    const image = () => statics.pods().map(({ spec }) => spec?.containers?.[0]?.image);
    assert.deepEqual(image(), ['app:1']);
    const [, second] = statics.verdicts();
    assert.equal(second?.state, 'duplicate');
    assert.match(second?.faults[0]?.message ?? '', /a\.yaml has a pod default\/web-n1 already/);
    await unlink(join(folder, 'a.yaml'));
    await waitFor('the other', () => image().join() === 'app:2');
    await waitFor('its verdict', () => followed.stateOf('b.yaml') === 'accepted');
  });

  test('what is no regular file is refused without being opened', async () => {
    await using followed = await follow(async (at) => {
      await writeOld(at('real'), manifest('linked'));
      await symlink('real', at('link.yaml'));
      for (let each = 0; each < 5; each += 1) await runSuccessfully('mkfifo', [at(`fifo${each}.yaml`)]);
      await writeOld(at('big.yaml'), `# ${'x'.repeat(1024 * 1024)}`);
      await writeOld(at('good.yaml'), manifest('good'));
    });
    const { statics, stateOf } = followed;
    await waitFor('all verdicts', () => statics.verdicts().every(({ state }) => state !== 'waiting'));
    assert.deepEqual(namesOf(statics.pods()), ['good-n1']);
    for (const name of ['link.yaml', 'fifo0.yaml', 'fifo4.yaml', 'big.yaml'])
      assert.equal(stateOf(name), 'invalid');
    const text = JSON.stringify(statics.verdicts());
    assert.match(text, /symbolic link/);
    assert.match(text, /not a regular file/);
    assert.match(text, /longer than 1048576 bytes/);
  });

  test('seen is when a manifest was first seen so; to write the same again changes nothing', async () => {
    await using followed = await follow((at) => writeOld(at('web.yaml'), manifest('web')));
    const { statics, folder } = followed;
    const seen = () => statics.pods()[0]?.metadata?.annotations?.['kubernetes.io/config.seen'];
    const first = seen();
    assert.ok(first !== undefined && !Number.isNaN(Date.parse(first)));
    let changes = 0;
    const since = () => statics.verdicts().find(({ file }) => file === 'web.yaml')?.since;
    const judged = since();
    using _listening = statics.onChange(() => {
      changes += 1;
    });
    await writeFile(join(folder, 'next'), manifest('web'));
    await rename(join(folder, 'next'), join(folder, 'web.yaml'));
    await waitFor('it to be judged', () => followed.stateOf('web.yaml') === 'accepted' && since() !== judged);
    assert.equal(seen(), first);
    assert.equal(changes, 0);
    await writeFile(join(folder, 'web.yaml'), manifest('web', 'app:2'));
    await waitFor('another', () => changes === 1);
    assert.notEqual(seen(), first);
  });

  test('a folder that cannot be read whole makes nobody believe that this is all', async () => {
    await using followed = await follow(async (at) => {
      for (let each = 0; each < 510; each += 1) await writeFile(at(`note${each}`), '');
      await writeOld(at('a.yaml'), manifest('a'));
    });
    assert.match(followed.statics.problem() ?? '', /more than 500 entries/);
    assert.equal(followed.statics.isComplete(), false);
    assert.deepEqual(namesOf(followed.statics.pods()), ['a-n1']);
  });

  test('a folder that is missing is told where somebody has asked for it', async () => {
    for (const isStated of [true, false]) {
      await using followed = await follow(async (at) => rename(at('.'), `${at('.')}.away`), { isStated });
      assert.equal(followed.statics.problem() !== undefined, isStated);
      assert.equal(
        followed.lines.some((line) => /is missing/.test(line)),
        isStated,
      );
      assert.equal(followed.statics.isComplete(), true);
      await mkdir(followed.folder);
      await writeOld(join(followed.folder, 'a.yaml'), manifest('a'));
      await waitFor('the pod', () => namesOf(followed.statics.pods()).join() === 'a-n1');
      assert.equal(followed.statics.problem(), undefined);
    }
  });
});
