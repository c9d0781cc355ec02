import assert from 'node:assert/strict';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { standaloneIdentity } from '../../../../src/agent/identity/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { alternativeNames, findFault } from '../../../../src/base/x509/index.ts';
import { readKubeconfig } from '../../../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { dayMs } from './pki.ts';

function run(folder: string) {
  const clock = createManualClock();
  const stop = new AbortController();
  const node = { url: 'https://192.0.2.1:10250' };
  const identity = standaloneIdentity({
    nodeName: 'node-a',
    rootDir: folder,
    certDir: folder,
    addresses: () => ['192.0.2.1'],
    url: async () => node.url,
    dependsOn: [],
    clock,
    log: silentLogger(),
  });
  const ended = identity.run(stop.signal, () => undefined);
  const kubeconfig = join(folder, 'agent.kubeconfig');
  return {
    identity,
    clock,
    node,
    kubeconfig,
    written: () => waitFor('the kubeconfig', () => stat(kubeconfig)),
    /** Lets hours pass, after each of which it looks again; what it does then takes real time. */
    hoursUntil: (what: string, condition: () => boolean | Promise<boolean>) =>
      waitFor(what, async () => {
        await clock.advance(3600_000);
        return await condition();
      }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('a standalone identity', () => {
  test('makes its own authority, and a kubeconfig for the agent itself', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    assert.equal((await running.written()).mode & 0o777, 0o600);
    const found = await readKubeconfig(running.kubeconfig);
    const { serving, api } = running.identity;
    assert.equal(found.endpoint, 'agent');
    assert.equal(found.server, 'https://192.0.2.1:10250');
    assert.equal(found.ca, serving.value?.clientCa);
    assert.equal(api.value, undefined);
    const now = running.clock.now();
    const names = alternativeNames(['node-a', '192.0.2.1', 'localhost', '127.0.0.1']);
    assert.ok(serving.value);
    assert.equal(
      findFault(serving.value.pair, { authority: found.ca, use: 'server', names, now }),
      undefined,
    );
    const admin = { cert: found.cert ?? '', key: found.key ?? '' };
    const subject = { commonName: 'nodeward-admin', organizations: ['system:masters'] };
    assert.equal(findFault(admin, { authority: found.ca, use: 'client', subject, now }), undefined);
    assert.equal((await stat(join(folder.path, 'standalone-ca.key'))).mode & 0o777, 0o600);
  });

  test('is the same at the next start', async () => {
    await using folder = await temporaryFolder();
    const texts: string[] = [];
    const times: number[] = [];
    for (const _start of [1, 2]) {
      await using running = run(folder.path);
      await waitFor('it to be there', () => running.identity.serving.value);
      times.push((await running.written()).mtimeMs);
      texts.push(await readFile(running.kubeconfig, 'utf8'));
    }
    assert.equal(texts[0], texts[1]);
    assert.equal(times[0], times[1]);
  });

  test('puts a kubeconfig that is gone, or says something else, back', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    await running.written();
    const text = await readFile(running.kubeconfig, 'utf8');
    await rm(running.kubeconfig);
    const isBack = async () => (await readFile(running.kubeconfig, 'utf8')) === text;
    await running.hoursUntil('the file', isBack);
    await writeFile(running.kubeconfig, 'rubbish');
    await running.hoursUntil('the text', isBack);
  });

  test('renews what it has signed, and keeps its authority', async () => {
    await using folder = await temporaryFolder();
    await using running = run(folder.path);
    await running.written();
    const before = running.identity.serving.value;
    running.clock.setWall(300 * dayMs);
    await running.hoursUntil('the renewal', () => running.identity.serving.value !== before);
    assert.equal(running.identity.serving.value?.clientCa, before?.clientCa);
    assert.notEqual(running.identity.serving.value?.pair.cert, before?.pair.cert);
  });

  for (const [what, text] of [
    ['expired with its clock', undefined],
    ['damaged', '-----BEGIN CERTIFICATE-----\nAA'],
    ['of which the key is lost', ''],
  ] as const) {
    test(`begins anew with an authority that is ${what}`, async () => {
      await using folder = await temporaryFolder();
      await using running = run(folder.path);
      await running.written();
      const before = running.identity.serving.value?.clientCa;
      if (text === undefined) running.clock.setWall(3651 * dayMs);
      else await writeFile(join(folder.path, `standalone-ca.${text === '' ? 'key' : 'crt'}`), text);
      await running.hoursUntil('a new authority', () => running.identity.serving.value?.clientCa !== before);
      await waitFor('its kubeconfig', async () => {
        const { ca } = await readKubeconfig(running.kubeconfig);
        return ca === running.identity.serving.value?.clientCa;
      });
    });
  }
});
