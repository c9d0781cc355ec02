import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { startApiServer } from '../../../src/testing/index.ts';
import { waitFor } from '../../support/index.ts';
import { configMaps, named } from '../apiserver/support/index.ts';

const namespace = 'default';
const maps = configMaps(namespace);
const ofMaps = { resource: 'configmaps', verb: /^(list|watch)$/ };

test("the JavaScript client's informer misses nothing when its watch is cut, and when its version is gone", async () => {
  await using server = await startApiServer();
  const client = await server.client();
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const seen: string[] = [];
  const informer = makeInformer<V1ConfigMap>(config, maps, () => api.listNamespacedConfigMap({ namespace }));
  const see = (what: string) => (map: V1ConfigMap) => {
    if (map.metadata?.name !== 'kube-root-ca.crt') seen.push(`${what} ${map.metadata?.name}`); // in every namespace
  };
  informer.on('add', see('add'));
  informer.on('update', see('update'));
  informer.on('delete', see('delete'));
  let stopped = false;
  informer.on('error', () => stopped || void informer.start()); // as its documentation advises
  await using stopping = new AsyncDisposableStack();
  stopping.defer(async () => {
    stopped = true;
    await informer.stop();
  });
  const sees = (what: string) => waitFor(`the informer to see ${what}`, () => seen.includes(what));
  using lists = server.faults.delay({ ms: 0, match: { ...ofMaps, verb: 'list' } });
  using watches = server.faults.delay({ ms: 0, match: { ...ofMaps, verb: 'watch' } });

  // given: it follows
  await client.request('POST', maps, named('first'));
  await informer.start();
  await waitFor('its watch', () => watches.hits === 1);
  await client.request('POST', maps, named('second'));
  await sees('add second');

  // when: its watch is cut and something happens before it is back
  const held = server.faults.delay({ ms: 60_000, match: ofMaps });
  await waitFor('the cut', () => server.faults.dropWatches(ofMaps) === 1);
  await client.request('PUT', `${maps}/second`, { ...named('second'), data: { colour: 'red' } });
  await client.request('POST', maps, named('third'));
  held.clear();

  // then: it goes on where it was
  await sees('add third');
  await sees('update second');
  assert.equal(lists.hits, 1, 'and need not list again');

  // when: it is cut and what it knows is too old to go on from
  const heldAgain = server.faults.delay({ ms: 60_000, match: ofMaps });
  await waitFor('the cut', () => server.faults.dropWatches(ofMaps) === 1);
  await client.request('DELETE', `${maps}/first`);
  await client.request('POST', maps, named('fourth'));
  await server.faults.expireHistory();
  heldAgain.clear();

  // then: it lists again, and knows what was made and what was deleted
  await sees('add fourth');
  await sees('delete first');
  assert.equal(lists.hits, 2);

  // and follows as before, also when history ends under an open watch
  await waitFor('its watch', () => server.faults.dropWatches(ofMaps) === 1);
  await server.faults.expireHistory();
  await client.request('POST', maps, named('fifth'));
  await sees('add fifth');
  assert.deepEqual(seen.toSorted(), [
    'add fifth',
    'add first',
    'add fourth',
    'add second',
    'add third',
    'delete first',
    'update second',
  ]);
});
