import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BundleChoice } from '../../../../src/agent/objects/index.ts';
import { NodeObjects } from '../../../../src/agent/objects/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { StatusError } from '../../../../src/api/index.ts';
import { formatPem, readPemBlocks } from '../../../../src/base/x509/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { memoryLog } from '../pods/support.ts';
import { away, FakeApi, forbidden } from './fake-api.ts';

/* Certificates are words here: the agent does not look into them. */

const signerName = 'e.com/s';
const pem = (...words: string[]) =>
  words.map((word) => formatPem('CERTIFICATE', Buffer.from(word))).join('# next\n');

const everything: BundleChoice = { signerName, labelSelector: {} };
const named: BundleChoice = { name: 'b' };

/** A pod that mounts the bundle `b`, and all of the signer. */
function podOf(uid: string, ...chosen: { name?: string; signerName?: string }[]): Pod {
  const sources = chosen.map((each) => ({ clusterTrustBundle: { ...each, path: 'p' } }));
  const spec = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', projected: { sources } }] };
  return { metadata: { name: uid, namespace: 'shop', uid }, spec };
}

async function lab(
  work: (lab: Awaited<ReturnType<typeof openLab>>) => Promise<void>,
  options: { readonly maxBytes?: number } = {},
): Promise<void> {
  const opened = await openLab(options);
  try {
    await work(opened);
  } finally {
    opened.end.abort();
    await opened.running;
  }
  assert.deepEqual(opened.api.watching, [], 'nothing is watched any more');
}

async function openLab(options: { readonly maxBytes?: number }) {
  const [api, clock, end] = [new FakeApi(), createManualClock(), new AbortController()];
  const objects = new NodeObjects({ api: api.api, clock, log: memoryLog().log, random: () => 0, ...options });
  const changes: string[] = [];
  objects.onChange(({ kind, name }, uids) => void changes.push(`${kind} ${name}: ${[...uids].join(' ')}`));
  return {
    ...{ api, objects, clock, end, changes },
    running: objects.run(end.signal, () => undefined),
    settle: () => clock.advance(1),
    put(name: string, trustBundle: string, labels: Record<string, string> = {}) {
      const spec = name.includes(':') ? { signerName, trustBundle } : { trustBundle };
      api.put(`clustertrustbundles /${name}`, { spec, metadata: { labels } });
    },
    /** The words in the file, or why there are none. */
    read(choice: BundleChoice) {
      const known = objects.trustAnchors(choice);
      if (known.state === 'present') {
        const words = readPemBlocks(known.object.pem.toString()).map(({ bytes }) => bytes.toString());
        return `${known.object.bundles.length} with ${words.join(' ')}`;
      }
      return known.state === 'absent' ? 'absent' : `${known.state}: ${known.message}`;
    },
  };
}

describe('trust bundles that pods mount', () => {
  test('by name are there, change and go, and pods hear of it', async () => {
    await lab(async ({ objects, changes, put, api, settle, read }) => {
      assert.match(read(named), /^waiting: the ClusterTrustBundle "b" is named by no pod/);
      objects.hold(podOf('u', { name: 'b' }));
      assert.match(
        read(named),
        /^waiting: the API has not told yet which ClusterTrustBundles of the name "b"/,
      );
      await settle();
      assert.equal(read(named), '0 with ');
      put('b', pem('one', 'two', 'one'));
      await settle();
      assert.equal(read(named), '1 with one two');
      put('b', pem('three'));
      await settle();
      assert.equal(read(named), '1 with three');
      api.delete('clustertrustbundles /b');
      await settle();
      assert.equal(read(named), '0 with ');
      assert.deepEqual(changes, Array(4).fill('ClusterTrustBundle b: u'));
      objects.release('u');
      assert.equal(objects.size, 0);
    });
  });

  test('of a signer come together, each certificate once, in the same order always', async () => {
    await lab(async ({ objects, put, settle, read }) => {
      put('e.com:s:1', pem('b', 'a'), { tier: 'x' });
      put('e.com:s:2', pem('c', 'b'));
      objects.hold(podOf('u', { signerName }));
      await settle();
      assert.equal(read(everything), '2 with a b c');
      const only = (labelSelector: object) => read({ signerName, labelSelector });
      assert.equal(only({ matchLabels: { tier: 'x' } }), '1 with a b');
      assert.equal(only({ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }), '1 with b c');
      assert.equal(read({ signerName }), '0 with ', 'without a selector there are none');
      put('e.com:s:2', pem('b'), { tier: 'x' });
      await settle();
      assert.equal(only({ matchLabels: { tier: 'x' } }), '2 with a b');
    });
  });

  test('that another server has stored broken have what can be read', async () => {
    await lab(async ({ objects, put, settle, read }) => {
      put('b', `junk\n${pem('one')}-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n`);
      objects.hold(podOf('u', { name: 'b' }));
      await settle();
      assert.equal(read(named), '1 with one');
      put('b', '-----BEGIN CERTIFICATE-----');
      await settle();
      assert.equal(read(named), '1 with ');
    });
  });

  test('that are written again with the same are no news', async () => {
    await lab(async ({ objects, changes, put, settle }) => {
      put('b', pem('one'));
      objects.hold(podOf('u', { name: 'b' }));
      await settle();
      put('b', pem('one'));
      await settle();
      assert.equal(changes.length, 1);
    });
  });

  test('of an API that does not know them are absent, until it does', async () => {
    await lab(async ({ objects, api, put, settle, read, clock }) => {
      api.failure = new StatusError('NotFound', 'the server could not find the requested resource');
      put('b', pem('one'));
      objects.hold(podOf('u', { name: 'b' }));
      await settle();
      assert.equal(read(named), 'absent');
      api.failure = undefined;
      await clock.advance(60_000);
      assert.equal(read(named), '1 with one');
      api.failure = new StatusError('NotFound', 'the server could not find the requested resource');
      api.breakWatches();
      await settle();
      assert.equal(read(named), '1 with one', 'what was known stays');
      api.failure = undefined;
    });
  });

  test('that the API refuses, or does not show, say why', async () => {
    await lab(async ({ objects, api, settle, read }) => {
      api.failure = forbidden('the bundle');
      objects.hold(podOf('u', { name: 'b' }));
      await settle();
      assert.equal(read(named), 'refused: the bundle is forbidden');
      api.failure = away;
      objects.hold(podOf('w', { signerName }));
      await settle();
      assert.match(
        read(everything),
        /^waiting: the API does not tell .* of the signer "e.com\/s" there are: nothing/,
      );
      api.failure = undefined;
    });
  });

  test('of one signer have at most 8 MiB together; they are read again later', async () => {
    await lab(async ({ objects, api, put, settle, read, clock }) => {
      const large = ' '.repeat(1024 * 1024 - 200);
      objects.hold(podOf('u', { signerName }));
      for (let each = 0; each < 9; each += 1) put(`e.com:s:${each}`, pem(`c${each}`) + large);
      await settle();
      const refusal =
        'refused: the ClusterTrustBundles of the signer "e.com/s" have more than 8 MiB, which no pod of this node gets';
      assert.equal(read(everything), refusal);
      assert.deepEqual(api.watching, []);
      await clock.advance(60_000);
      assert.equal(read(everything), refusal);
      api.delete('clustertrustbundles /e.com:s:0');
      await clock.advance(60_000);
      assert.match(read(everything), /^8 with c1 c2 /);
    });
  });

  test('have no more than the node keeps; they are read again when others go', async () => {
    const work = async ({ objects, put, settle, read }: Awaited<ReturnType<typeof openLab>>) => {
      put('b', pem('x'.repeat(600_000)));
      put('e.com:s:1', pem('y'.repeat(600_000)));
      objects.hold(podOf('u', { name: 'b' }));
      await settle();
      objects.hold(podOf('v', { signerName }));
      await settle();
      assert.match(read(named), /^1 with x/);
      assert.match(
        read(everything),
        /^refused: this node keeps at most 1 MiB of ConfigMaps, Secrets and trust bundles, and has no room for the ClusterTrustBundle "e.com\/s"/,
      );
      objects.release('u');
      await settle();
      assert.match(read(everything), /^1 with y/);
    };
    await lab(work, { maxBytes: 1024 * 1024 });
  });
});
