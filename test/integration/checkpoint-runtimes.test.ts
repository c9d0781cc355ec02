/** Runtimes that cannot checkpoint, and workloads that criu will not take. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { freePort } from '../support/index.ts';
import { notingGaps } from './checkpoint/gaps.ts';
import { openSite, pathIn, runsOn, startWorkload } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';

before(ensureBuilt);

describe('a checkpoint that the runtime cannot make', () => {
  test('for want of criu is 500 in its words', async () => {
    await using site = await openSite({ withoutCriu: true });
    const workload = await startWorkload(site);
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}/main`);
    assert.equal(code, 500);
    assert.match(body, /CRIU binary not found or too old/);
    await runsOn(site, workload);
    assert.deepEqual(await site.archives(), []);
  });

  test('for an established TCP connection is 500, unless the container allows it', async () => {
    await using site = await openSite();
    const port = await freePort();
    const counting = notingGaps(0).command[2] ?? '';
    const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const until = (state: string) =>
      `until cat /proc/net/tcp* | grep -q '${address} [0-9A-F:]* ${state} '; do sleep 0.1; done`;
    const [listens, isEstablished] = [until('0A'), until('01')];
    const script = `mkdir -p /data; (sleep 1000000 | nc -l -p ${port} >/dev/null) & ${listens}; (sleep 1000000 | nc 127.0.0.1 ${port} >/dev/null) & ${isEstablished}; ${counting}`;
    const workload = { command: ['/bin/sh', '-c', script] };
    const plain = await startWorkload(site, { workload });
    const refused = await site.ask(`/checkpoint/default/${plain.pod}/main`);
    assert.equal(refused.code, 500, refused.body);
    assert.match(refused.body, /criu failed/);
    await runsOn(site, plain);
    await plain.remove();

    const options = join(site.runtime.folder, 'criu.conf');
    await writeFile(options, 'tcp-established\n');
    const allowed = await startWorkload(site, { workload, annotations: { 'org.criu.config': options } });
    const made = await site.ask(`/checkpoint/default/${allowed.pod}/main`);
    assert.equal(made.code, 200, made.body);
    assert.ok(pathIn(made.body));
    await runsOn(site, allowed);
  });
});
