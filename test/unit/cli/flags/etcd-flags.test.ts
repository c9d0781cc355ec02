import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import type { EtcdFlags } from '../../../../src/cli/flags/etcd-flags.ts';
import { etcdOptions, readEtcdFlags } from '../../../../src/cli/flags/etcd-flags.ts';

function parsed(storage: string, ...argv: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of etcdOptions()) command.addOption(option);
  return readEtcdFlags({ ...command.parse(argv, { from: 'user' }).opts<EtcdFlags>(), storage });
}

function isMisused(message: RegExp) {
  return (error: unknown) =>
    error instanceof ExitError && error.exitCode === exitCodes.usage && message.test(error.message);
}

test('flags tell which etcd, and how it is reached', () => {
  const argv = ['--etcd-servers', 'https://a:2379, https://b:2379', '--etcd-prefix', '/registry'];
  const trust = ['--etcd-cafile', '/ca', '--etcd-certfile', '/cert', '--etcd-keyfile', '/key'];
  assert.deepEqual(parsed('etcd', ...argv, ...trust, '--etcd-compaction-interval', '90s'), {
    servers: ['https://a:2379', 'https://b:2379'],
    prefix: '/registry',
    tls: { caFile: '/ca', certFile: '/cert', keyFile: '/key' },
    compactionIntervalMs: 90_000,
  });
  assert.equal(parsed('sqlite'), undefined);
});

test('flags that do not go together are refused', () => {
  const servers = ['--etcd-servers', 'https://a:2379'];
  assert.throws(() => parsed('sqlite', ...servers), isMisused(/need --storage etcd/));
  assert.throws(() => parsed('etcd'), isMisused(/needs --etcd-servers/));
  assert.throws(() => parsed('etcd', ...servers, '--etcd-certfile', '/c'), isMisused(/need each other/));
  const plain = ['--etcd-servers', 'http://a:2379', '--etcd-cafile', '/ca'];
  assert.throws(() => parsed('etcd', ...plain), isMisused(/https:/));
});

test('an address that holds a password is refused without repeating it', () => {
  const servers = ['--etcd-servers', 'https://me:hunter2@a:2379'];
  const refused = isMisused(/addresses like/);
  assert.throws(
    () => parsed('etcd', ...servers),
    (error) => refused(error) && !String(error).includes('hunter2'),
  );
});

test('prefixes and intervals have bounds', () => {
  const servers = ['--etcd-servers', 'https://a:2379'];
  for (const prefix of ['registry', '/a b', '/']) {
    assert.throws(() => parsed('etcd', ...servers, '--etcd-prefix', prefix), /path like/);
  }
  for (const interval of ['1s', '25h', 'often']) {
    assert.throws(() => parsed('etcd', ...servers, '--etcd-compaction-interval', interval), /10s to 24h/);
  }
  assert.equal(parsed('etcd', ...servers, '--etcd-compaction-interval', '0s')?.compactionIntervalMs, 0);
});
