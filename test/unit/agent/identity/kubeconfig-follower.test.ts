import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { kubeconfigFollower } from '../../../../src/agent/identity/index.ts';
import { createLatest } from '../../../../src/base/index.ts';
import type { ClientOptions } from '../../../../src/client/index.ts';
import { clientOptionsOf, readKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { createTestAuthority } from './pki.ts';

const authority = await createTestAuthority('cluster');
const first = await authority.issue('system:node:a', ['system:nodes'], 'client');
const second = await authority.issue('system:node:a', ['system:nodes'], 'client');

const text = (user: string, server = 'https://192.0.2.1:6443') => `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "${server}", certificate-authority: ca.crt}}]
users: [{name: u, user: {${user}}}]
`;
const withCertificate = text('client-certificate: a.crt, client-key: a.key');

/** Writes files as programs that rotate do: each at once. */
async function put(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, `${name}.new`), content);
    await rename(join(folder, `${name}.new`), join(folder, name));
  }
}

async function follow(folder: string, kubeconfig: string, more: Record<string, string> = {}) {
  await put(folder, { 'ca.crt': authority.ca, 'a.crt': first.cert, 'a.key': first.key, ...more });
  await put(folder, { config: kubeconfig });
  const path = join(folder, 'config');
  const found = await readKubeconfig(path);
  const credentials = createLatest<ClientOptions>();
  credentials.set(clientOptionsOf(found));
  const clock = createManualClock();
  const { log, text: logged } = recordedLog();
  const common = { groupSuffix: 'k8s.io', dependsOn: [], clock, log };
  const service = kubeconfigFollower({ ...common, path, files: found.files, credentials });
  const stop = new AbortController();
  const ended = service.run(stop.signal, () => undefined);
  return {
    credentials,
    clock,
    logged,
    until: (what: string, condition: () => boolean) =>
      waitFor(what, async () => {
        await clock.advance(10_000);
        return condition();
      }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('a kubeconfig that is followed', () => {
  test('counts anew when it says something else', async () => {
    await using folder = await temporaryFolder();
    await using running = await follow(folder.path, withCertificate);
    await put(folder.path, { config: text('token: abc', 'https://192.0.2.2:6443') });
    await running.until('the other server', () => running.credentials.value?.token === 'abc');
    assert.equal(running.credentials.value?.server, 'https://192.0.2.2:6443');
    assert.equal(running.credentials.value?.cert, undefined);
    assert.match(running.logged(), /the kubeconfig has changed and was read again/);
  });

  test('counts anew when a file that it names does, and not for anything less', async () => {
    await using folder = await temporaryFolder();
    await using running = await follow(folder.path, text('tokenFile: token'), { token: 'one\n' });
    let changes = 0;
    using _changes = running.credentials.onChange(() => void changes++);
    await put(folder.path, { token: 'two\n' });
    await running.until('the next token', () => running.credentials.value?.token === 'two');
    await put(folder.path, { config: `# a remark\n${text('tokenFile: token')}`, token: 'two' });
    for (let look = 0; look < 5; look += 1) await running.clock.advance(10_000);
    assert.equal(changes, 1);
  });

  test('keeps what is in use in the middle of a rotation, says so once, and takes the end of it', async () => {
    await using folder = await temporaryFolder();
    await using running = await follow(folder.path, withCertificate);
    await put(folder.path, { 'a.crt': second.cert });
    await running.until('the warning', () =>
      running.logged().includes('keeping the credentials that are in use'),
    );
    for (let look = 0; look < 5; look += 1) await running.clock.advance(10_000);
    assert.equal(running.logged().match(/keeping the credentials/g)?.length, 1);
    assert.equal(running.credentials.value?.cert, first.cert);
    await put(folder.path, { 'a.key': second.key });
    await running.until('the next pair', () => running.credentials.value?.cert === second.cert);
  });
});
