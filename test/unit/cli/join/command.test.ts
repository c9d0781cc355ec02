import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { exitCodes } from '../../../../src/base/index.ts';
import { createAuthority, issuePair, noNames } from '../../../../src/base/x509/index.ts';
import { hashAuthority } from '../../../../src/cli/agent-client/authority-hash.ts';
import { readKubeconfig, renderKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const otherHash = `sha256:${'0'.repeat(64)}`;

/** A control plane with a token, and a machine that is to join. */
async function world() {
  const server = await startServer();
  const folder = await temporaryFolder();
  const [etc, rootDir] = [join(folder.path, 'etc'), join(folder.path, 'root')];
  const admin = ['--kubeconfig', server.running.kubeconfig];
  const made = await runCommandLine(['token', 'create', '-o', 'json', ...admin]);
  const { token, caCertHash: hash, command } = JSON.parse(made.stdout);
  const address = new URL(server.running.url).host;
  const place = ['--etc-dir', etc, '--root-dir', rootDir, '--no-start'];
  return {
    server,
    etc,
    rootDir,
    token: String(token),
    hash: String(hash),
    address,
    command: String(command),
    /** Makes the machine a member: it has a node.kubeconfig of that control plane. */
    becomeMember: async () => {
      await mkdir(rootDir, { recursive: true });
      const { ca, url } = server.running;
      const own = renderKubeconfig({ server: url, ca, token: 'x', user: 'node' });
      await writeFile(join(rootDir, 'node.kubeconfig'), own, { mode: 0o600 });
    },
    /** Makes another token. */
    createToken: async () => {
      const other = await runCommandLine(['token', 'create', '-o', 'json', ...admin]);
      return String(JSON.parse(other.stdout).token);
    },
    deleteToken: () => runCommandLine(['token', 'delete', String(token), ...admin]),
    /** `args`: what stands after `join SERVER`; default what a person would give. */
    join: (args = ['--token', String(token), '--ca-hash', String(hash)], where = address) =>
      runCommandLine(['join', where, ...args, ...place]),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const names = (folder: string) => readdir(folder).catch(() => []);

describe('nodeward join', () => {
  test('writes the bootstrap kubeconfig and the flags of the agent, and says how it is started', async () => {
    await using at = await world();
    const { code, stdout, stderr } = await at.join();
    assert.equal(code, 0, stderr);
    const file = join(at.etc, 'bootstrap.kubeconfig');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const written = await readKubeconfig(file);
    assert.deepEqual([written.token, written.server], [at.token, `https://${at.address}`]);
    assert.equal(hashAuthority(written.ca), at.hash);
    const env = await readFile(join(at.etc, 'agent.env'), 'utf8');
    assert.equal(env, `NODEWARD_JOIN_FLAGS="--bootstrap-kubeconfig=${file}"\n`);
    assert.match(stdout, /run: nodeward agent --bootstrap-kubeconfig=|systemctl enable --now nodeward/);
  });

  test('is the command that token create prints', async () => {
    await using at = await world();
    const [program, ...args] = at.command.split(' ');
    assert.equal(program, 'nodeward');
    const end = await runCommandLine([...args, '--etc-dir', at.etc, '--root-dir', at.rootDir, '--no-start']);
    assert.equal(end.code, 0, end.stderr);
  });

  test('may be run again, and needs no token once the machine has joined', async () => {
    await using at = await world();
    assert.equal((await at.join()).code, 0);
    const before = await readFile(join(at.etc, 'agent.env'), 'utf8');
    assert.equal((await at.join()).code, 0);
    await at.becomeMember();
    await at.deleteToken();
    const again = await at.join();
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /has joined already/);
    assert.equal(await readFile(join(at.etc, 'agent.env'), 'utf8'), before);
  });

  test('of a member with another token or server tries the token and writes anew', async () => {
    await using at = await world();
    assert.equal((await at.join()).code, 0);
    await at.becomeMember();
    await at.deleteToken();
    const token = await at.createToken();
    const [good, file] = [['--token', token, '--ca-hash', at.hash], join(at.etc, 'bootstrap.kubeconfig')];
    const renewed = await at.join(good);
    assert.equal(renewed.code, 0, renewed.stderr);
    assert.match(renewed.stdout, /is the control plane/);
    assert.equal((await readKubeconfig(file)).token, token);
    const elsewhere = await at.join(good, '127.0.0.1:1');
    assert.match(elsewhere.stderr, /cannot reach https:\/\/127\.0\.0\.1:1/);
    const { ca } = await readKubeconfig(file);
    const old = renderKubeconfig({ server: 'https://old:6443', ca, token, user: 'bootstrap' });
    await writeFile(file, old);
    assert.equal((await at.join(good)).code, 0);
    assert.equal((await readKubeconfig(file)).server, `https://${at.address}`);
    assert.match((await at.join()).stderr, /does not accept the token/);
  });

  test('keeps the name of an earlier join when none is given', async () => {
    await using at = await world();
    const args = ['--token', at.token, '--ca-hash', at.hash];
    for (const given of [['--node-name', 'node-7'], [], ['--node-name', 'node-8']]) {
      assert.equal((await at.join([...args, ...given])).code, 0);
      const env = await readFile(join(at.etc, 'agent.env'), 'utf8');
      assert.match(env, given.includes('node-8') ? /=node-8"\n$/ : / --hostname-override=node-7"\n$/);
    }
  });

  test('looks in the root folder that agent.env gives the installed agent', async () => {
    await using at = await world();
    await mkdir(join(at.rootDir, 'pki'), { recursive: true });
    await writeFile(join(at.rootDir, 'pki/ca.crt'), at.server.running.ca);
    await mkdir(at.etc);
    const args = ['--token', at.token, '--ca-hash', at.hash, '--etc-dir', at.etc, '--no-start'];
    for (const line of [
      `NODEWARD_ROOT_DIR="${at.rootDir}"`,
      `NODEWARD_ROOT_DIR=/nowhere\nNODEWARD_FLAGS="--port=0 --root-dir=${at.rootDir}"`,
      `NODEWARD_FLAGS=--root-dir ${at.rootDir}`,
    ]) {
      await writeFile(join(at.etc, 'agent.env'), `${line}\n`);
      const end = await runCommandLine(['join', at.address, ...args]);
      assert.equal(end.code, exitCodes.configuration, end.stderr);
      assert.ok(end.stderr.includes(`runs that control plane itself, in ${at.rootDir}:`), end.stderr);
    }
    const given = await runCommandLine(['join', at.address, ...args, '--root-dir', join(at.etc, 'root')]);
    assert.equal(given.code, 0, 'the flag counts before agent.env');
  });

  test('takes the spelling of kubeadm, and a name for the node', async () => {
    await using at = await world();
    const args = ['--token', at.token, '--discovery-token-ca-cert-hash', at.hash, '--node-name', 'node-7'];
    const { code, stderr } = await at.join(args);
    assert.equal(code, 0, stderr);
    const env = await readFile(join(at.etc, 'agent.env'), 'utf8');
    assert.match(env, / --hostname-override=node-7"$/m);
  });

  test('keeps what the operator has in agent.env', async () => {
    await using at = await world();
    await mkdir(at.etc);
    const own = '# mine\nNODEWARD_FLAGS="--port=0"\n\nNODEWARD_JOIN_FLAGS="--old"\nA=b';
    await writeFile(join(at.etc, 'agent.env'), own);
    assert.equal((await at.join()).code, 0);
    const env = await readFile(join(at.etc, 'agent.env'), 'utf8');
    assert.match(env, /^# mine\nNODEWARD_FLAGS="--port=0"\n\nA=b\nNODEWARD_JOIN_FLAGS="--bootstrap-\S+"\n$/);
  });

  test('keeps mode and owner of agent.env, also behind a link, and makes a new one for its owner only', async () => {
    await using at = await world();
    assert.equal((await at.join()).code, 0);
    const file = join(at.etc, 'agent.env');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const [target, link] = [join(at.rootDir, 'mine.env'), join(at.etc, 'agent.env')];
    await mkdir(at.rootDir);
    await rm(file);
    await writeFile(target, 'A=b\n');
    await chmod(target, 0o640);
    if (process.getuid?.() === 0) await chown(target, 65534, 65533);
    await symlink(target, link);
    const before = await stat(target);
    assert.equal((await at.join()).code, 0);
    assert.equal(await readlink(link), target);
    const after = await stat(target);
    assert.deepEqual([after.mode, after.uid, after.gid], [before.mode, before.uid, before.gid]);
    assert.match(await readFile(target, 'utf8'), /^A=b\nNODEWARD_JOIN_FLAGS=/);
  });

  test('refuses an agent.env whose last line goes on, or that is a link to nothing', async () => {
    await using at = await world();
    await mkdir(at.etc);
    const file = join(at.etc, 'agent.env');
    for (const text of ['A=b \\', 'A=b \\\n\n', '# mine \\\nNODEWARD_JOIN_FLAGS="--old"\n']) {
      await writeFile(file, text);
      const { code, stderr } = await at.join();
      assert.equal(code, exitCodes.configuration);
      assert.match(stderr, /last line of .*agent\.env ends in a backslash.*: remove the backslash/);
      assert.equal(await readFile(file, 'utf8'), text);
      assert.deepEqual(await names(at.etc), ['agent.env']);
    }
    await rm(file);
    await symlink('nowhere.env', file);
    assert.match((await at.join()).stderr, /is a link to a file that does not exist/);
  });

  test('looks at the last line of the operator that sets flags, as systemd does', async () => {
    await using at = await world();
    await mkdir(at.etc);
    const [chooses, plain] = ['NODEWARD_FLAGS="--port=0 --kubeconfig /x"\n', 'NODEWARD_FLAGS=--port=0\n'];
    await writeFile(join(at.etc, 'agent.env'), `${plain} ${chooses}`);
    assert.match((await at.join()).stderr, /has --kubeconfig, which chooses another control plane/);
    await writeFile(join(at.etc, 'agent.env'), chooses + plain);
    assert.equal((await at.join()).code, 0);
  });

  test('refuses flags of the operator that choose another control plane', async () => {
    await using at = await world();
    await mkdir(at.etc);
    await writeFile(join(at.etc, 'agent.env'), 'NODEWARD_FLAGS="--port=0 --kubeconfig=/x"\n');
    const { code, stderr } = await at.join();
    assert.equal(code, exitCodes.configuration);
    assert.deepEqual(await names(at.etc), ['agent.env']);
    assert.match(stderr, /NODEWARD_FLAGS in .*agent\.env has --kubeconfig, .*: remove it/);
  });
});

describe('nodeward join says clearly why not, and writes nothing then', () => {
  async function refuses(
    at: Awaited<ReturnType<typeof world>>,
    end: { code: number; stderr: string },
    code: number,
    message: RegExp,
  ): Promise<void> {
    assert.equal(end.code, code, end.stderr);
    assert.match(end.stderr, message);
    assert.deepEqual(await names(at.etc), []);
  }

  test('a wrong hash: the token is not sent', async () => {
    await using at = await world();
    const end = await at.join(['--token', at.token, '--ca-hash', otherHash]);
    await refuses(
      at,
      end,
      exitCodes.failed,
      new RegExp(`has the hash ${at.hash}, not ${otherHash}: .*nothing was sent`),
    );
  });

  test('a token that has expired or was deleted', async () => {
    await using at = await world();
    await at.deleteToken();
    await refuses(
      at,
      await at.join(),
      exitCodes.failed,
      /does not accept the token: it has expired.*nodeward token create/,
    );
  });

  test('a server that is not reached', async () => {
    await using at = await world();
    const end = await at.join(undefined, '127.0.0.1:1');
    await refuses(at, end, exitCodes.failed, /cannot reach https:\/\/127\.0\.0\.1:1: .*--bind-address/);
  });

  test('a machine that has joined elsewhere', async () => {
    await using at = await world();
    const { cert } = await createAuthority('other', 3600_000, Date.now());
    await mkdir(at.rootDir, { recursive: true });
    const own = renderKubeconfig({ server: 'https://other:6443', ca: cert, token: 'x', user: 'node' });
    await writeFile(join(at.rootDir, 'node.kubeconfig'), own, { mode: 0o600 });
    await refuses(
      at,
      await at.join(),
      exitCodes.configuration,
      /has joined another control plane, https:\/\/other:6443: to leave it, stop the agent and remove .*node\.kubeconfig/,
    );
  });

  test('the machine of the control plane itself', async () => {
    await using at = await world();
    await mkdir(join(at.rootDir, 'pki'), { recursive: true });
    await writeFile(join(at.rootDir, 'pki/ca.crt'), at.server.running.ca);
    await refuses(
      at,
      await at.join(),
      exitCodes.configuration,
      /this machine runs that control plane itself/,
    );
  });

  test('a server that does not present its authority, or presents one that did not issue its certificate', async () => {
    await using at = await world();
    const now = Date.now();
    const authority = await createAuthority('theirs', 3600_000, now);
    const leaf = {
      subject: { commonName: 'x', organizations: [] },
      names: noNames,
      use: 'server',
      lifetimeMs: 60_000,
      now,
    } as const;
    const { key, cert } = await issuePair(authority, leaf);
    // the second chain has the true authority beside a certificate that it has not issued
    for (const chain of [cert, `${cert}\n${at.server.running.ca}`]) {
      const message = /does not present its authority/;
      await using server = createServer({ key, cert: chain }, () => assert.fail('it was asked something'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      assert.ok(typeof address === 'object' && address !== null);
      await refuses(at, await at.join(undefined, `127.0.0.1:${address.port}`), exitCodes.failed, message);
    }
  });

  test('what is called wrongly; a wrong token is not repeated', async () => {
    await using at = await world();
    const good = ['--token', at.token, '--ca-hash', at.hash];
    for (const [args, where, message] of [
      [['--token', at.token], undefined, /--ca-hash is missing/],
      [['--ca-hash', at.hash], undefined, /required option '--token/],
      [['--token', 'hush-hush', '--ca-hash', at.hash], undefined, /--token takes a token/],
      [['--token', at.token, '--ca-hash', 'md5:1'], undefined, /sha256: and 64/],
      [[...good, '--node-name', 'A_B'], undefined, /name of a node/],
      [good, 'http://x', /HOST or HOST:PORT/],
      [good, 'x/path', /HOST or HOST:PORT/],
    ] as const) {
      const end = await at.join([...args], where);
      await refuses(at, end, exitCodes.usage, message);
      assert.doesNotMatch(end.stderr, /hush-hush/);
    }
  });
});
