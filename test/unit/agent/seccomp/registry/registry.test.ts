import assert from 'node:assert/strict';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  open,
  rename,
  rm,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { MetricsRegistry } from '../../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder, waitFor } from '../../../../support/index.ts';
import { good, other, podNaming, sampleRegistry } from './sample-registry.ts';

const paths = (registry: { profiles(): readonly { path: string }[] }) =>
  registry.profiles().map(({ path }) => path);

describe('the seccomp registry follows its folder', () => {
  test('that is missing at first, comes, is filled, goes and comes again', async () => {
    await using sample = await sampleRegistry();
    assert.deepEqual(sample.registry.profiles(), []);
    assert.match(sample.registry.problem() ?? '', /missing|does not exist|no such/i);

    await mkdir(join(sample.folder, 'sub'), { recursive: true });
    await writeFile(join(sample.folder, 'sub/audit.json'), good);
    const found = await sample.becomes('sub/audit.json', 'valid');
    assert.ok(found?.verdict !== undefined && 'digest' in found.verdict);
    assert.match(found.verdict.digest, /^sha256:[0-9a-f]{64}$/);
    assert.equal(found.verdict.sizeBytes, good.length);
    assert.equal(sample.registry.problem(), undefined);

    await rm(sample.folder, { recursive: true });
    await sample.becomes('sub/audit.json', 'gone');
    await mkdir(sample.folder);
    await writeFile(join(sample.folder, 'audit.json'), good);
    await sample.becomes('audit.json', 'valid');
  });

  test('through writes, renames over it, renames away and links that are turned round', async () => {
    await using sample = await sampleRegistry();
    const at = (name: string) => join(sample.folder, name);
    await mkdir(sample.folder);
    await writeFile(at('a.json'), good);
    const first = await sample.becomes('a.json', 'valid');
    const changes: string[] = [];
    sample.registry.onChange(({ path, before, after }) =>
      changes.push(`${path} ${before?.kind} ${after?.kind}`),
    );

    await writeFile(at('.new'), 'no profile');
    await rename(at('.new'), at('a.json'));
    await sample.becomes('a.json', 'invalid');
    await writeFile(at('a.json'), good);
    const again = await sample.becomes('a.json', 'valid');
    assert.ok(first?.verdict && 'digest' in first.verdict && again?.verdict && 'digest' in again.verdict);
    assert.equal(first.verdict.digest, again.verdict.digest);

    await mkdir(at('..one'));
    await writeFile(at('..one/p.json'), good);
    await mkdir(at('..two'));
    await writeFile(at('..two/p.json'), other);
    await symlink('..one', at('..data'));
    await symlink('..data/p.json', at('p.json'));
    const one = await sample.becomes('p.json', 'valid');
    await symlink('..two', at('..next'));
    await rename(at('..next'), at('..data'));
    const digestOf = (profile: typeof one) =>
      profile?.verdict && 'digest' in profile.verdict ? profile.verdict.digest : '';
    await waitFor('the other content', () => digestOf(sample.registry.find('p.json')) !== digestOf(one));

    await rename(at('a.json'), at('b.json'));
    await sample.becomes('b.json', 'valid');
    await sample.becomes('a.json', 'gone');
    assert.deepEqual(paths(sample.registry), ['b.json', 'p.json']);
    assert.deepEqual(
      changes.filter((change) => change.startsWith('a.json')),
      ['a.json valid invalid', 'a.json invalid valid', 'a.json valid undefined'],
    );
  });

  test('and takes no notes, hidden files and what editors leave for profiles, unless a pod names them', async () => {
    await using sample = await sampleRegistry();
    await mkdir(join(sample.folder, '.git'), { recursive: true });
    const names = [
      'README.md',
      '.hidden.json',
      'x.json~',
      'x.json.swp',
      '#x.json',
      'x.tmp',
      '.git/a.json',
      'plain',
    ];
    for (const name of names) await writeFile(join(sample.folder, name), good);
    await writeFile(join(sample.folder, 'real.json'), good);
    await sample.becomes('real.json', 'valid');
    assert.deepEqual(paths(sample.registry), ['real.json']);

    sample.setPods([podNaming('a', { pod: './plain' }), podNaming('b', { pod: '.hidden.json' })]);
    await sample.becomes('plain', 'valid');
    await sample.becomes('.hidden.json', 'valid');
    await writeFile(join(sample.folder, 'plain'), 'broken');
    await sample.becomes('plain', 'invalid');
    sample.setPods([]);
    assert.deepEqual(paths(sample.registry), ['real.json']);
  });
});

describe('a profile that is written', () => {
  test('keeps its former verdict and is not judged until it is at rest', async () => {
    await using sample = await sampleRegistry({ settleMs: 300, patienceMs: 5000 });
    await mkdir(sample.folder);
    const path = join(sample.folder, 'slow.json');
    await writeFile(path, good);
    await sample.becomes('slow.json', 'valid');
    const before = sample.judged;

    await using file = await open(path, 'w');
    await file.write('{"defaultAction": "SCMP_ACT_ALLOW"');
    await waitFor('the change to be seen', () => sample.registry.find('slow.json')?.isSettling);
    for (let turn = 0; turn < 20; turn += 1) {
      await file.write(` ${' '.repeat(turn)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(sample.registry.find('slow.json')?.verdict?.kind, 'valid');
    }
    assert.equal(sample.judged, before, 'nothing was judged while it was written');
    await file.write('}\n');
    await sample.becomes('slow.json', 'valid');
    assert.equal(sample.judged, before + 1);
  });

  test('that stops in the middle is given time to go on, and is judged as it is when it does not', async () => {
    await using sample = await sampleRegistry({ patienceMs: 3000 });
    await mkdir(sample.folder);
    const [goesOn, staysSo, empty] = ['on.json', 'so.json', 'empty.json'].map((name) =>
      join(sample.folder, name),
    );
    assert.ok(goesOn && staysSo && empty);
    const begun = performance.now();
    await writeFile(goesOn, good.slice(0, 20));
    await writeFile(staysSo, good.slice(0, 20));
    await writeFile(empty, '');
    await waitFor('them to be seen', () => sample.registry.profiles().length === 3);
    await new Promise((resolve) => setTimeout(resolve, 300)); // longer than the settling time
    assert.equal(sample.judged, 0);
    await appendFile(goesOn, good.slice(20));
    await sample.becomes('on.json', 'valid');
    await sample.becomes('so.json', 'invalid');
    await sample.becomes('empty.json', 'invalid');
    assert.ok(performance.now() - begun >= 2900, 'not before its patience is over');
  });

  test('with times long past, as an archive sets them, is settled by what is seen of it', async () => {
    await using sample = await sampleRegistry();
    await mkdir(sample.folder);
    const path = join(sample.folder, 'old.json');
    await writeFile(path, good);
    await utimes(path, 1, 1);
    await sample.becomes('old.json', 'valid');
    await writeFile(path, other);
    await utimes(path, 1, 1);
    const second = (digest: string | undefined) => digest !== undefined && digest !== '';
    await waitFor('the second content of equal size and time', () => {
      const verdict = sample.registry.find('old.json')?.verdict;
      return verdict && 'digest' in verdict && second(verdict.digest) && sample.judged >= 2;
    });
  });
});

describe('what cannot be read is told and harms nothing', () => {
  test('a FIFO, a folder, a socket’s place, links out of the folder, in a circle and to nothing', async () => {
    await using sample = await sampleRegistry();
    const at = (name: string) => join(sample.folder, name);
    await mkdir(sample.folder);
    await writeFile(join(sample.folder, '../outside.json'), good);
    for (let turn = 0; turn < 6; turn += 1) await runSuccessfully('mkfifo', [at(`fifo${turn}.json`)]);
    await symlink('../outside.json', at('out.json'));
    await symlink('/etc/passwd', at('absolute.json'));
    await symlink('circle.json', at('circle.json'));
    await symlink('nothing', at('nowhere.json'));
    await symlink('/dev/zero', at('endless.json'));
    await writeFile(at('real.json'), good);
    await symlink('real.json', at('link.json'));
    await mkdir(at('folder.json'));
    sample.setPods([podNaming('a', { pod: 'folder.json' })]);

    await sample.becomes('link.json', 'valid');
    const reasons: [string, RegExp][] = [
      ['fifo5.json', /not a regular file/],
      ['out.json', /leads out of the folder/],
      ['absolute.json', /leads out of the folder/],
      ['endless.json', /leads out of the folder/],
      ['circle.json', /circle/],
      ['nowhere.json', /does not exist/],
      ['folder.json', /not a regular file/],
    ];
    for (const [path, reason] of reasons) {
      const found = await sample.becomes(path, 'unreadable');
      assert.ok(found?.verdict?.kind === 'unreadable');
      assert.match(found.verdict.reason, reason, path);
    }
    await unlink(at('fifo0.json'));
    await writeFile(at('fifo0.json'), good);
    await sample.becomes('fifo0.json', 'valid');
  });

  test('a file that is too long', async () => {
    const metrics = new MetricsRegistry();
    await using sample = await sampleRegistry({ limitBytes: 1000, metrics });
    await mkdir(sample.folder);
    await writeFile(join(sample.folder, 'long.json'), `{${' '.repeat(2000)}}`);
    const found = await sample.becomes('long.json', 'unreadable');
    assert.ok(found?.verdict?.kind === 'unreadable');
    assert.match(found.verdict.reason, /longer than 1000 bytes/);
    // a file that was just written may be read more than once
    assert.match(await metrics.metrics(), /nodeward_seccomp_profile_read_failures_total [1-9]/);
    assert.match(await metrics.metrics(), /nodeward_seccomp_profiles\{verdict="unreadable"\} 1/);
  });

  test('more files than are taken: those that pods name are judged all the same', async () => {
    await using sample = await sampleRegistry({ maxEntries: 20, pods: [podNaming('a', { pod: 'zz.json' })] });
    await mkdir(sample.folder);
    for (let each = 0; each < 60; each += 1) await writeFile(join(sample.folder, `a${each}.json`), good);
    await writeFile(join(sample.folder, 'zz.json'), good);
    await waitFor('the bound to be told', () => /20/.test(sample.registry.problem() ?? ''));
    await waitFor('zz.json to be judged', () => sample.registry.find('zz.json')?.verdict?.kind === 'valid', {
      timeoutMs: 20_000,
    });
    assert.ok(sample.registry.profiles().length <= 21);
  });
});

test('what pods name below a link to a folder is followed too, although no change of it is heard', async () => {
  await using sample = await sampleRegistry({ recheckMs: 50 });
  await mkdir(join(sample.folder, '.store'), { recursive: true });
  await symlink('.store', join(sample.folder, 'team'));
  await writeFile(join(sample.folder, '.store/a.json'), good);
  sample.setPods([podNaming('web', { pod: 'team/a.json' })]);
  await sample.becomes('team/a.json', 'valid');
  await writeFile(join(sample.folder, '.store/a.json'), 'broken');
  await sample.becomes('team/a.json', 'invalid');
  await rm(join(sample.folder, '.store/a.json'));
  await sample.becomes('team/a.json', 'missing');
});

test('what failed for a reason that may pass is tried again by itself', async () => {
  await using sample = await sampleRegistry({ recheckMs: 50, failures: 2 });
  await mkdir(sample.folder);
  await writeFile(join(sample.folder, 'a.json'), good);
  await sample.becomes('a.json', 'valid');
  assert.equal(sample.judged, 3);
});

test('a file of another user is told with owner and mode by a root without capabilities', {
  skip: process.geteuid?.() === 0 ? false : 'needs root to make a file of another user',
}, async () => {
  await using home = await temporaryFolder('seccomp-read-');
  await writeFile(join(home.path, 'a.json'), good);
  await chown(join(home.path, 'a.json'), 1234, 1234);
  await chmod(join(home.path, 'a.json'), 0o600);
  const program = join(import.meta.dirname, 'read-one.ts');
  const withOut = ['--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all'];
  const read = (...argv: string[]) =>
    runSuccessfully('setpriv', [...argv, process.execPath, program, home.path, 'a.json']);

  const answer = await read(...withOut);
  assert.match(
    answer,
    /cannot be read: it belongs to user 1234 with mode 0600, and this process runs as user 0/,
  );
  await chmod(join(home.path, 'a.json'), 0o604);
  assert.equal(await read(...withOut), good);
});
