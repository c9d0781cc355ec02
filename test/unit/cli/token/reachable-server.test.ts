import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { describe, test } from 'node:test';
import { findReachableServer, isLoopback } from '../../../../src/cli/token/reachable-server.ts';
import type { Kubeconfig } from '../../../../src/client/index.ts';
import { readKubeconfig } from '../../../../src/client/index.ts';
import { startServer } from '../../apiserver/support/index.ts';

const find = (admin: Kubeconfig) => findReachableServer(admin, new AbortController().signal);
const own = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  .map(({ address }) => address);

describe('the address in the command of token create', () => {
  test('is that of the kubeconfig where others reach it, which is not asked', async () => {
    const admin = { name: 'x', server: 'https://cp.example:6443', ca: '', extensions: {}, files: [] };
    const found = await find({ ...admin, endpoint: 'controlPlane' });
    assert.deepEqual(found, { server: 'https://cp.example:6443', local: undefined });
  });

  test('of a control plane that listens on loopback only: it says so, with an address to listen on', async () => {
    await using server = await startServer();
    const admin = await readKubeconfig(server.running.kubeconfig);
    const { server: url, local } = await find(admin);
    assert.equal(url, admin.server);
    assert.ok(local !== undefined);
    assert.ok(local.address === undefined ? own.length === 0 : own.includes(local.address));
  });

  test('is one of this machine when the control plane listens on all', {
    skip: own.length === 0,
  }, async () => {
    await using server = await startServer({ bindAddress: '0.0.0.0' });
    const admin = await readKubeconfig(server.running.kubeconfig);
    assert.ok(isLoopback(admin.server));
    const { server: url, local } = await find(admin);
    assert.equal(local, undefined);
    assert.equal(isLoopback(url), false);
    assert.ok(own.includes(new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')), url);
    assert.equal(new URL(url).port, new URL(admin.server).port);
  });

  test('knows which addresses are of this machine alone', () => {
    for (const local of [
      'https://127.0.0.1:6443',
      'https://127.8.8.8',
      'https://localhost:1',
      'https://[::1]:6443',
    ])
      assert.ok(isLoopback(local), local);
    for (const other of ['https://10.0.0.1:6443', 'https://localhost.example:1', 'https://[::2]:1'])
      assert.equal(isLoopback(other), false, other);
  });
});
