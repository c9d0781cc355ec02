/** inspect, diff and image on archives of this machine. */
import assert from 'node:assert/strict';
import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { FileSchema } from '../../../../src/agent/checkpoint/archive/gen/images_pb.js';
import { exitCodes } from '../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder } from '../../../support/index.ts';
import type { CheckpointFacts } from '../../agent/checkpoint/archive/archives.ts';
import { checkpoint, image, json, tar } from '../../agent/checkpoint/archive/archives.ts';
import { runCommandLine } from '../run-command.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());
const id = 'checkpoint-web_default-main-2026-01-02T03:05:06.789Z';

async function archive(name: string, facts: CheckpointFacts = {}): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, tar(checkpoint(facts)));
  return path;
}

const one = await archive('one.tar');
const two = await archive('two.tar', { log: 'one\ntwo\n', environment: ['PATH=/bin', 'TOKEN=changed'] });
const run = (...args: string[]) => runCommandLine(['checkpoint', ...args, '--root-dir', folder.path]);

describe('nodeward checkpoint inspect', () => {
  test('tells people what is in an archive', async () => {
    const { code, stdout, stderr } = await run('inspect', one);
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^Checkpoint of default\/web\/main\n/);
    assert.match(stdout, /^criu +4\.2\.1, images of version 2$/m);
    assert.match(stdout, /^ {2}7 {4} {2}worker +alive +2 +4\.0 KiB/m);
    assert.match(stdout, /^ {2}1 +2 +tcp +LISTEN +127\.0\.0\.1:8080$/m);
    assert.match(stdout, /^ {2}\/proc +proc +ro /m);
    assert.match(stdout, /^ {2}TOKEN$/m);
    assert.doesNotMatch(stdout, /secret|Not understood/);
  });

  test('shows the environment when it is told to', async () => {
    const { stdout } = await run('inspect', one, '--show-environment');
    assert.match(stdout, /^ {2}TOKEN=secret$/m);
  });

  test('answers programs as JSON and YAML', async () => {
    const { stdout } = await run('inspect', one, '-o', 'json');
    const answer: unknown = JSON.parse(stdout);
    assert.ok(typeof answer === 'object' && answer !== null && 'path' in answer && 'processes' in answer);
    assert.equal(answer.path, one);
    assert.match((await run('inspect', one, '-o', 'yaml')).stdout, /^ {2}architecture: amd64$/m);
  });

  test('reads what is piped in', async () => {
    const args = ['checkpoint', 'inspect', '-', '--root-dir', folder.path];
    const { code, stdout } = await runCommandLine(args, tar(checkpoint()));
    assert.equal(code, exitCodes.ok);
    assert.match(stdout, /^Checkpoint of default\/web\/main/);
    assert.match((await runCommandLine(args, 'text')).stderr, /standard input is too short/);
  });

  test('finds a checkpoint of the agent by its id', async () => {
    const checkpoints = join(folder.path, 'checkpoints');
    await mkdir(checkpoints, { mode: 0o700 });
    await writeFile(join(checkpoints, `${id}.tar`), tar(checkpoint()));
    const { code, stdout, stderr } = await run('inspect', id);
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^Checkpoint of default\/web\/main/);
  });

  test('shows nothing that could move a terminal’s cursor', async () => {
    const files = [{ type: 1, id: 1, regular: { flags: 0, name: '/tmp/\u001b[2Jx\u202e' } }];
    const others = checkpoint().filter(({ name }) => name !== 'checkpoint/files.img');
    const path = join(folder.path, 'hostile.tar');
    await writeFile(path, tar([...others, image('files.img', 'files', FileSchema, files)]));
    const { stdout } = await run('inspect', path);
    assert.match(stdout, /\/tmp\/\?\[2Jx\?/);
    assert.ok(!stdout.includes('\u001b') && !stdout.includes('\u202e'));
  });

  test('says of what it is not, what to do', async () => {
    const other = join(folder.path, 'other.tar');
    await writeFile(other, tar([json('a.json', {})]));
    const fifo = join(folder.path, 'fifo');
    await runSuccessfully('mkfifo', [fifo]);
    const cases: [string, RegExp][] = [
      [other, /other\.tar is no checkpoint of a container/],
      [join(folder.path, 'nowhere.tar'), /there is no archive .*nowhere\.tar/],
      [id.replace('web', 'no'), /there is no archive .* and no checkpoint of that id in .*checkpoints/],
      ['../../etc/passwd', /there is no archive|is no tar archive/],
      [folder.path, /is no regular file/],
      [fifo, /is no regular file/],
    ];
    for (const [argument, expected] of cases) {
      const { code, stdout, stderr } = await run('inspect', argument);
      assert.deepEqual([code, stdout], [exitCodes.configuration, ''], argument);
      assert.match(stderr, expected);
    }
  });
});

describe('nodeward checkpoint diff', () => {
  test('says by code 1 that something changed, and what', async () => {
    const { code, stdout, stderr } = await run('diff', one, two);
    assert.equal(code, exitCodes.failed, stderr);
    assert.match(stdout, /^~ +variable +TOKEN$/m);
    assert.match(stdout, /^~ +log +4 B -> 8 B \(\+4 B\)$/m);
    assert.doesNotMatch(stdout, /secret|different/);
    assert.match((await run('diff', one, two, '--show-environment')).stdout, /TOKEN +secret -> changed/);
  });

  test('says by code 0 that nothing did', async () => {
    const { code, stdout } = await run('diff', one, one);
    assert.deepEqual([code, stdout], [exitCodes.ok, 'nothing changed\n']);
  });

  test('says first that the containers are different ones', async () => {
    const three = await archive('three.tar', { id: 'another', podUid: 'another' });
    const { code, stdout } = await run('diff', one, three);
    assert.equal(code, exitCodes.failed);
    assert.match(stdout, /^these are checkpoints of different containers: /);
  });

  test('says by other codes that it cannot be told', async () => {
    assert.equal((await run('diff', one, join(folder.path, 'nowhere'))).code, exitCodes.configuration);
    assert.equal((await run('diff', one)).code, exitCodes.usage);
  });

  test('answers programs without values', async () => {
    const { code, stdout } = await run('diff', one, two, '-o', 'json');
    assert.equal(code, exitCodes.failed);
    assert.match(stdout, /"differs": true/);
    assert.doesNotMatch(stdout, /secret/);
  });
});

describe('nodeward checkpoint image', () => {
  test('writes a layout that only its owner can read, and prints the two commands that come next', async () => {
    const output = join(folder.path, 'layout.tar');
    const { code, stdout, stderr } = await run(
      'image',
      one,
      '--output-file',
      output,
      '--name',
      'localhost/app:7',
    );
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^localhost\/app:7@sha256:[0-9a-f]{64}\n$/);
    assert.doesNotMatch(stderr, /will not restore/);
    const [, next = ''] = stderr.split('next, on the node that is to have it:\n');
    assert.deepEqual(next.split('\n'), [
      `  ctr -n k8s.io images import ${output}`,
      '  kubectl run restored --image=localhost/app:7 --image-pull-policy=IfNotPresent',
      '',
    ]);
    assert.equal((await stat(output)).mode & 0o7777, 0o600);
  });

  test('refuses -o FILE, and names the new spelling', async () => {
    for (const args of [
      ['image', one, '-o', 'layout.tar'],
      ['open', one, '-i', 'key', '-o', 'out.tar'],
      ['keygen', '-o', 'key'],
      ['download', 'latest', '-o', 'copy.tar'],
    ]) {
      const { code, stderr } = await run(...args);
      assert.equal(code, exitCodes.usage);
      assert.match(
        stderr,
        /Allowed choices are text, json, yaml, name\. A file is named with --output-file FILE\./,
      );
    }
  });

  test('warns of a container whose image is in no registry', async () => {
    const files = checkpoint().filter(({ name }) => name !== 'config.dump');
    const path = join(folder.path, 'local.tar');
    await writeFile(path, tar([...files, json('config.dump', { rootfsImageRef: 'sha256:12' })]));
    const { code, stderr } = await run('image', path, '--output-file', join(folder.path, 'local-layout.tar'));
    assert.equal(code, exitCodes.ok);
    assert.match(stderr, /known by sha256:12 only.*containerd will not restore/);
  });

  test('refuses wrong names and places, and leaves nothing', async () => {
    const before = await readdir(folder.path);
    const output = join(folder.path, 'x.tar');
    const onItself = await run('image', one, '--output-file', one, '--force');
    assert.deepEqual([onItself.code, onItself.stdout], [exitCodes.usage, '']);
    const taken = await run('image', one, '--output-file', two);
    assert.equal(taken.code, exitCodes.usage);
    assert.match(taken.stderr, /is there already; replace it with --force/);
    assert.equal((await run('image', one, '--output-file', output, '--name', 'A B')).code, exitCodes.usage);
    assert.equal((await run('image', one)).code, exitCodes.usage);
    assert.equal(
      (await run('image', one, '--output-file', join(folder.path, 'no/x.tar'))).code,
      exitCodes.unwritable,
    );
    assert.equal((await run('image', one, '--output-file', '/dev/null')).code, exitCodes.unwritable);
    assert.equal(
      (await run('image', two.replace('two', 'none'), '--output-file', output)).code,
      exitCodes.configuration,
    );
    assert.deepEqual(await readdir(folder.path), before);
    const link = join(folder.path, 'link');
    await symlink(one, link);
    assert.equal((await run('image', one, '--output-file', link)).code, exitCodes.unwritable);
  });
});
