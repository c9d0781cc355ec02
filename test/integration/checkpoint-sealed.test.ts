/** Archives that are sealed: what is on the disk, what opens them, and the age tool as the other side. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseRecord } from '../../src/agent/checkpoint/index.ts';
import { exitCodes } from '../../src/base/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { runCommand, runSuccessfully, temporaryFolder } from '../support/index.ts';
import type { Site, Workload } from './checkpoint/site.ts';
import { openSite, pathIn, runsOn, startWorkload } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import { fetched } from './lab/folder.ts';
import { nodeward } from './nodeward/index.ts';

before(ensureBuilt);

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

describe('sealed archives', () => {
  const age = () => fetched('age/bin/age');
  let keys: TemporaryFolder;
  let own: string;
  let recipient: string;
  let toolsRecipient: string;
  let site: Site;
  let workload: Workload;
  before(async () => {
    keys = await temporaryFolder('keys-');
    own = join(keys.path, 'own.key');
    const made = await nodeward(['checkpoint', 'keygen', '--output-file', own]);
    assert.equal(made.code, 0, made.stderr);
    recipient = made.stdout.trim();
    await runSuccessfully(fetched('age/bin/age-keygen'), ['-o', join(keys.path, 'tool.key')]);
    toolsRecipient = (
      await runSuccessfully(fetched('age/bin/age-keygen'), ['-y', join(keys.path, 'tool.key')])
    ).trim();
    await writeFile(join(keys.path, 'recipients'), `# the tool’s\n${toolsRecipient}\n`);
    const config = `checkpoint:\n  encryption:\n    recipients: [${recipient}]\n    recipientsFile: ${join(keys.path, 'recipients')}\n`;
    site = await openSite({ config });
    workload = await startWorkload(site);
  });
  after(async () => {
    await site?.[Symbol.asyncDispose]();
    await keys?.[Symbol.asyncDispose]();
  });

  async function checkpoint(): Promise<string> {
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}/main`);
    assert.equal(code, 200, body);
    return pathIn(body);
  }

  test('nothing plain is left on the node, and each recipient can open what is there', async () => {
    const path = await checkpoint();
    await runsOn(site, workload);
    assert.match(path, /\.tar\.age$/);
    assert.equal((await stat(path)).mode & 0o7777, 0o600);
    assert.deepEqual(
      (await site.archives()).map((name) => name.replace(/.*Z\./, '')),
      ['json', 'tar.age'],
    );
    const record = parseRecord(await readFile(path.replace(/tar\.age$/, 'json'), 'utf8'));
    assert.equal(record.sha256, await sha256Of(path));
    assert.equal(record.sizeBytes, (await stat(path)).size);
    assert.deepEqual(record.sealed?.recipients, [recipient, toolsRecipient]);

    const opened = join(keys.path, 'opened.tar');
    const ours = await nodeward(['checkpoint', 'open', path, '-i', own, '--output-file', opened]);
    assert.equal(ours.code, 0, ours.stderr);
    assert.equal((await stat(opened)).mode & 0o7777, 0o600);
    assert.equal(await sha256Of(opened), record.sealed?.plainSha256);
    assert.equal((await stat(opened)).size, record.sealed?.plainSizeBytes);
    const names = (await runSuccessfully('tar', ['-tf', opened])).split('\n');
    assert.ok(names.includes('config.dump'), names.join());

    const byTool = join(keys.path, 'by-tool.tar');
    await runSuccessfully(age(), ['-d', '-i', join(keys.path, 'tool.key'), '-o', byTool, path]);
    assert.equal(await sha256Of(byTool), record.sealed?.plainSha256);
  });

  test('what the age tool has sealed is opened, for many recipients, long and empty', async () => {
    const plain = join(keys.path, 'plain');
    for (const size of [0, 65_536, 3_000_000]) {
      await writeFile(plain, Buffer.alloc(size, 'nodeward'));
      await runSuccessfully(age(), ['-r', toolsRecipient, '-r', recipient, '-o', `${plain}.age`, plain]);
      const opened = await nodeward([
        'checkpoint',
        'open',
        `${plain}.age`,
        '--identity',
        own,
        '--output-file',
        `${plain}.2`,
        '--force',
      ]);
      assert.equal(opened.code, 0, opened.stderr);
      assert.equal(await sha256Of(`${plain}.2`), await sha256Of(plain));
    }
    const piped = await nodeward([
      'checkpoint',
      'open',
      `${plain}.age`,
      '--identity',
      own,
      '--output-file',
      '-',
    ]);
    assert.equal(piped.stdout, Buffer.alloc(3_000_000, 'nodeward').toString());
  });

  test('who is no recipient opens nothing, with either tool', async () => {
    const path = await checkpoint();
    const other = join(keys.path, 'other.key');
    await nodeward(['checkpoint', 'keygen', '--output-file', other]);
    const refused = await nodeward([
      'checkpoint',
      'open',
      path,
      '-i',
      other,
      '--output-file',
      join(keys.path, 'never.tar'),
    ]);
    assert.equal(refused.code, exitCodes.failed);
    assert.equal(
      refused.stderr,
      `nodeward: ${path} cannot be opened: it is sealed for others: no identity fits\n`,
    );
    assert.ok(!(await readdir(keys.path)).some((name) => name.includes('never')));
    assert.notEqual((await runCommand(age(), ['-d', '-i', other, path])).code, 0);
  });

  test('a set is sealed as a whole', async () => {
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}`);
    assert.equal(code, 200, body);
    const { items, manifest } = JSON.parse(body);
    assert.match(items[0], /\.tar\.age$/);
    const [member] = JSON.parse(await readFile(manifest, 'utf8')).members;
    assert.equal(member.sealed.plainSha256.length, 64);
    await runsOn(site, workload);
  });

  test('recipients count from the next checkpoint on; a file that is bad makes none, and leaves nothing', async () => {
    const before = await site.archives();
    await writeFile(join(keys.path, 'recipients'), `${toolsRecipient}\nage1mistyped\n`);
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}/main`);
    assert.equal(code, 500);
    assert.match(body, /failed \(.*recipients:2: "age1mistyped" is no X25519 recipient/);
    assert.deepEqual(await site.archives(), before);
    await writeFile(join(keys.path, 'recipients'), `${toolsRecipient}\n`);
    await site.configure(
      `checkpoint:\n  encryption:\n    recipientsFile: ${join(keys.path, 'recipients')}\n`,
    );
    const reload = await nodeward(['reload', '--root-dir', site.rootDir]);
    assert.equal(reload.code, 0, reload.stderr);
    const path = await checkpoint();
    const record = parseRecord(await readFile(path.replace(/tar\.age$/, 'json'), 'utf8'));
    assert.deepEqual(record.sealed?.recipients, [toolsRecipient]);
  });
});
