import assert from 'node:assert/strict';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CheckpointError } from '../../../../src/agent/checkpoint/index.ts';
import { PartialFile } from '../../../../src/cli/checkpoint/partial-file.ts';
import { waitFor } from '../../../support/index.ts';
import { runCommandLine } from '../run-command.ts';
import { agentLab } from './agent-lab.ts';

describe('nodeward checkpoint', () => {
  test('ls is a table for people, and JSON and YAML for programs', async () => {
    await using at = await agentLab();
    const [old, young] = [await at.make({ pinned: true }), await at.make({ namespace: 'other' })];
    const { code, stdout } = await at.run('ls');
    assert.equal(code, 0);
    const [head, first, second, ...rest] = stdout.trimEnd().split('\n');
    assert.match(head ?? '', /^NAMESPACE +POD +CONTAINER +SIZE +AGE +STATE +PINNED +ID$/);
    assert.match(first ?? '', new RegExp(`^other +web +main +7 B +\\d+d +Unverified +${young.id}$`));
    assert.match(second ?? '', new RegExp(`^shop +web +main +7 B +\\d+d +Unverified +yes +${old.id}$`));
    assert.deepEqual(rest, []);
    const json = JSON.parse((await at.run('ls', '-n', 'shop', '-o', 'json')).stdout);
    assert.deepEqual([json.kind, json.items.length, json.items[0].id], ['CheckpointList', 1, old.id]);
    assert.match((await at.run('ls', '--limit', '1', '-o', 'yaml')).stdout, /^kind: CheckpointList$/m);
    const { stdout: none, stderr } = await at.run('ls', '--since', '1h');
    assert.deepEqual([none, stderr], ['', 'No resources found\n'], 'no head alone');
    const there = await at.run('ls', '-n', 'nowhere');
    assert.deepEqual([there.stdout, there.stderr], ['', 'No resources found in nowhere namespace.\n']);
  });

  test('ls reads all pages', async () => {
    await using at = await agentLab();
    const { id, sidecar } = await at.make();
    const record = await readFile(sidecar, 'utf8');
    const others = Array.from({ length: 501 }, (_, index) => id.replace(/\d{4}Z$/, `${2000 + index}Z`));
    for (const other of others) {
      await writeFile(join(at.path, `${other}.json`), record.replaceAll(id, other));
      await writeFile(join(at.path, `${other}.tar`), '');
    }
    assert.equal(JSON.parse((await at.run('ls', '-o', 'json')).stdout).items.length, 502);
    assert.equal(JSON.parse((await at.run('ls', '--limit=501', '-o', 'json')).stdout).items.length, 501);
  });

  test('get, pin, unpin, rm', async () => {
    await using at = await agentLab();
    const { id, path, record } = await at.make();
    assert.match((await at.run('get', id)).stdout, new RegExp(`^sha256 +${record.sha256}$`, 'm'));
    assert.equal((await at.run('pin', path, '--reason', 'for the audit')).stdout, `${id} is pinned\n`);
    assert.match((await at.run('get', id)).stdout, /^pinReason +for the audit$/m);
    const kept = await at.run('rm', id);
    assert.equal(kept.code, 1);
    assert.match(kept.stderr, /answered 409: .* is pinned \(for the audit\).*--force/);
    await at.run('unpin', id);
    const gone = await at.run('rm', 'checkpoint-none', id);
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /no checkpoint begins with "checkpoint-none"; see .*nodeward checkpoint ls/);
    assert.equal(gone.stdout, `${id} is removed\n`);
    assert.deepEqual(await at.ids(), []);
  });

  test('verify ends with 1 when an archive is damaged', async () => {
    await using at = await agentLab();
    const { id, path } = await at.make();
    assert.deepEqual(await at.run('verify', id), { code: 0, stdout: `${id}: matches\n`, stderr: '' });
    await writeFile(path, 'ARCHIVE');
    const { code, stdout } = await at.run('verify', id);
    assert.equal(code, 1);
    assert.match(stdout, /: damaged: its SHA-256 is /);
    assert.match((await at.run('ls')).stdout, /Damaged/);
  });

  test('prune shows, and removes', async () => {
    await using at = await agentLab({ retention: () => ({ node: { maxCount: 1 } }) });
    const [old] = [await at.make(), await at.make()];
    const planned = await at.run('prune', '--dry-run');
    assert.match(planned.stdout, new RegExp(`^SIZE +LIMIT +WOULD GO\n7 B +node.maxCount +${old.id}\n$`));
    assert.match((await at.run('prune')).stdout, /GONE/);
    assert.equal((await at.run('prune')).stdout, 'nothing goes\n');
    assert.equal((await at.ids()).length, 1);
  });

  test('create waits, or does not, or does all the same', async () => {
    await using at = await agentLab();
    const made = await at.run('shop/web/main');
    assert.equal(made.stdout, `${at.path}/${(await at.ids())[0]}.tar\n`);
    const { stdout } = await at.run('create', 'shop/web/main', '--async');
    assert.match(stdout, /^operation-[0-9a-f]{8}-1\n$/);
    await waitFor('its end', async () => /^state +Done$/m.test((await at.run('get', stdout.trim())).stdout));
    const waited = await at.run('shop/web/main', '--async', '--wait');
    assert.equal(waited.stdout, `${at.path}/${(await at.ids())[0]}.tar\n`);
    assert.equal((await at.run('shop/web/main', '--wait')).code, 2);
  });

  test('create that is waited for fails in the agent’s words', async () => {
    const message = 'checkpointing of shop/web/main failed (criu failed)';
    await using at = await agentLab({
      checkpoint: () => Promise.reject(new CheckpointError('failed', message)),
    });
    assert.deepEqual(await at.run('shop/web/main', '--async', '--wait'), {
      code: 1,
      stdout: '',
      stderr: `nodeward: ${message}\n`,
    });
  });
});

describe('what is called wrongly', () => {
  for (const args of [
    ['ls', 'more'],
    ['ls', '--since=yesterday'],
    ['ls', '--limit=0'],
    ['ls', '-o', 'xml'],
    ['get'],
    ['get', 'a', 'b'],
    ['get', '/'],
    ['rm'],
    ['pin'],
    ['pin', 'a', 'b'],
    ['unpin'],
    ['verify'],
    ['prune', 'more'],
    ['download'],
    ['download', 'a', '--output-file='],
    ['create'],
  ]) {
    test(args.join(' '), async () => {
      const { code, stdout, stderr } = await runCommandLine(['checkpoint', ...args]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^error: .*\n\(see nodeward checkpoint [a-z]+ --help\)\n$/);
    });
  }
});

/** Ends the first connection that has brought so many bytes from the port behind it. */
async function breakingRelay(port: number, bytes: number) {
  let broken = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' });
    let brought = 0;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => undefined).on('close', () => to.destroy());
      from.on('data', (chunk) => {
        brought += chunk.length;
        if (broken || brought < bytes) to.write(chunk);
        else near.destroy();
        broken ||= brought >= bytes;
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' ? address?.port : undefined,
    get broken() {
      return broken;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('nodeward checkpoint download', () => {
  const content = Buffer.from('0123456789'.repeat(50_000));

  test('writes a file that only its owner can read, and replaces none', async () => {
    await using at = await agentLab();
    const { id } = await at.make({ content });
    const to = join(at.rootDir, 'copy.tar');
    assert.deepEqual(await at.run('download', id, '--output-file', to), {
      code: 0,
      stdout: `${to}\n`,
      stderr: '',
    });
    assert.ok((await readFile(to)).equals(content));
    assert.equal((await stat(to)).mode & 0o777, 0o600);
    const again = await at.run('download', id, '--output-file', to);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /copy\.tar is there already; replace it with --force$/m);
    assert.equal((await at.run('download', id, '--output-file', to, '--force')).code, 0);
    assert.deepEqual(
      (await readdir(at.rootDir)).filter((name) => name.endsWith('.part')),
      [],
    );
  });

  test('goes on where an earlier one was broken off', async () => {
    await using at = await agentLab();
    const { id, record } = await at.make({ content });
    const to = join(at.rootDir, 'copy.tar');
    {
      await using partial = await PartialFile.open(to, record.sha256, content.length);
      await partial.append(content.subarray(0, 300_000));
    }
    assert.equal((await at.run('download', id, '--output-file', to)).code, 0);
    assert.ok((await readFile(to)).equals(content));
    assert.match(at.logged(), /"action":"download".*"code":206/);
    assert.doesNotMatch(at.logged(), /"action":"download".*"code":200/);
  });

  test('goes on by itself over a connection that breaks', async () => {
    await using at = await agentLab();
    const large = Buffer.alloc(20 * 1024 * 1024, 'x');
    const { id } = await at.make({ content: large });
    const to = join(at.rootDir, 'copy.tar');
    await using relay = await breakingRelay(at.server.port, 5 * 1024 * 1024);
    const kubeconfig = join(at.rootDir, 'relayed.kubeconfig');
    const direct = await readFile(join(at.rootDir, 'agent.kubeconfig'), 'utf8');
    const relayed = direct.replace(`:${at.server.port}`, `:${relay.port}`);
    await writeFile(kubeconfig, relayed, { mode: 0o600 });
    const { code, stderr } = await at.run('download', id, '--output-file', to, '--kubeconfig', kubeconfig);
    assert.equal(code, 0, stderr);
    assert.ok((await readFile(to)).equals(large));
    assert.ok(relay.broken);
    assert.match(at.logged(), /"action":"download".*"code":206/);
  });

  test('keeps nothing that is not what it should be', async () => {
    await using at = await agentLab();
    const { id, path, record } = await at.make({ content });
    await writeFile(path, Buffer.alloc(content.length));
    const to = join(at.rootDir, 'copy.tar');
    const { code, stderr } = await at.run('download', id, '--output-file', to);
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`what came is not the archive: .*, not .*${record.sha256}; it has been removed`),
    );
    assert.deepEqual(
      (await readdir(at.rootDir)).filter((name) => name.includes('copy')),
      [],
    );
  });

  test('follows no link that somebody has put in its way', async () => {
    await using at = await agentLab();
    const { id, record } = await at.make({ content });
    const to = join(at.rootDir, 'copy.tar');
    {
      await using partial = await PartialFile.open(to, record.sha256, content.length);
      await partial.discard();
      const name = (await readdir(at.rootDir)).find((each) => each.endsWith('.part'));
      assert.equal(name, undefined);
    }
    const { createHash } = await import('node:crypto');
    const mark = createHash('sha256').update(record.sha256).digest('hex').slice(0, 16);
    await symlink(join(at.rootDir, 'victim'), join(at.rootDir, `.copy.tar.${mark}.part`));
    assert.notEqual((await at.run('download', id, '--output-file', to)).code, 0);
    assert.ok(!(await readdir(at.rootDir)).includes('victim'));
  });
});
