import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { waitFor } from '../../../support/index.ts';
import { volumesOfObjects } from './files-support.ts';
import type { Volume } from './support.ts';
import { podId, podWith, stateOf } from './support.ts';

type Made = Awaited<ReturnType<typeof volumesOfObjects>>;

const ready = { state: 'ready' };
const ofConfig: Volume = { name: 'v', configMap: { name: 'c' } };
const tokenSource = { serviceAccountToken: { path: 'token' } };
const ofToken: Volume = { name: 'v', projected: { sources: [tokenSource] } };

async function untilSeen(made: Made, expected: Record<string, string>, kind = 'configmap', uid = 'u1') {
  await waitFor(`the files of ${uid}`, async () => {
    const seen = await made.seen(kind, uid).catch(() => undefined);
    return JSON.stringify(seen) === JSON.stringify(expected);
  });
}

/** Lets time pass until what failed has been tried again with success; the files take real time. */
async function untilRetried(made: Made): Promise<void> {
  await waitFor('the next try', async () => {
    await made.clock.advance(5000);
    return made.volumes.contentsOf('u1')[0]?.problem === undefined;
  });
}

describe('the files of a pod follow its objects', () => {
  test('on each change, and an Event says which version it is, once in a while', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1', b: '1' });
    await stateOf(made.volumes, podWith([ofConfig]));
    assert.deepEqual(made.volumes.contentsOf('u1'), [
      { volume: 'v', shows: 'configmap default/c version 1', sinceMs: made.clock.now() },
    ]);
    await made.clock.advance(5000);
    made.objects.setConfigMap('c', { a: '2' });
    await untilSeen(made, { a: '2' });
    await waitFor('the version', () => made.volumes.contentsOf('u1')[0]?.sinceMs === made.clock.now());
    const updated = (version: number) =>
      `Normal VolumeUpdated: Volume "v" shows configmap default/c version ${version}`;
    assert.deepEqual(made.events, [updated(2)]);
    made.objects.setConfigMap('c', { a: '3' });
    await untilSeen(made, { a: '3' });
    await waitFor('version 3', () => made.volumes.contentsOf('u1')[0]?.shows.endsWith('version 3') === true);
    assert.deepEqual(made.events, [updated(2)]);
    await made.clock.advance(60_000);
    made.objects.setConfigMap('c', { a: '4' });
    await waitFor('another Event', () => made.events.length === 2);
    assert.deepEqual(made.events, [updated(2), updated(4)]);
    assert.equal(made.volumes.want(podWith([ofConfig])).state, 'ready');
  });

  test('and are not touched when it is another that has changed', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    made.objects.setConfigMap('d', { a: '1' });
    const volumes = [ofConfig, { name: 'w', configMap: { name: 'd' } }, { ...ofToken, name: 't' }];
    await stateOf(made.volumes, podWith(volumes));
    const data = join(made.pathOf('configmap'), 'a');
    await rm(data); // a write would repair it
    made.objects.setConfigMap('d', { a: '2' });
    await waitFor('the other', () => made.events.length === 1);
    await assert.rejects(stat(data), { code: 'ENOENT' });
    assert.equal(made.tokens.asked.length, 1);
  });

  test('that were deleted: the files stay, and that is reported once', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    await stateOf(made.volumes, podWith([ofConfig]));
    made.objects.putConfigMap('c', { state: 'absent' });
    const message = 'MountVolume.SetUp failed for volume "v" : configmap "c" not found';
    await waitFor('the Event', () => made.events.length === 1);
    assert.deepEqual(made.events, [`Warning FailedMount: ${message}`]);
    await made.clock.advance(10_000);
    assert.equal(made.events.length, 1);
    assert.deepEqual(await made.seen('configmap'), { a: '1' });
    assert.equal(made.volumes.contentsOf('u1')[0]?.problem, 'configmap "c" not found');
    assert.deepEqual(made.volumes.want(podWith([ofConfig])), ready);
    made.objects.setConfigMap('c', { a: '2' });
    await untilSeen(made, { a: '2' });
    await waitFor('the end of the problem', () => made.volumes.contentsOf('u1')[0]?.problem === undefined);
  });

  test('that may be missing and were deleted: the files go', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    await stateOf(made.volumes, podWith([{ name: 'v', configMap: { name: 'c', optional: true } }]));
    made.objects.putConfigMap('c', { state: 'absent' });
    await untilSeen(made, {});
  });

  test('where that fails it is tried again, and the old files stay', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    await stateOf(
      made.volumes,
      podWith([{ name: 'v', configMap: { name: 'c', items: [{ key: 'a', path: 'p' }] } }]),
    );
    made.objects.setConfigMap('c', { b: '1' });
    await waitFor('the Event', () => made.events.length === 1);
    assert.match(made.events[0] ?? '', /configmap references non-existent config key: a$/);
    assert.deepEqual(await made.seen('configmap'), { p: '1' });
    const volume = made.pathOf('configmap');
    await rm(volume, { recursive: true });
    await mkdir(join(volume, '..'), { recursive: true });
    await writeFile(volume, ''); // something else stands in the way now
    made.objects.setConfigMap('c', { a: '2' });
    await waitFor('another Event', () => made.events.length === 2);
    await rm(volume);
    await untilRetried(made);
    await untilSeen(made, { p: '2' });
  });

  test('also where it changes while the volumes are being set up', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    made.volumes.want(podWith([ofConfig]));
    made.objects.setConfigMap('c', { a: '2' });
    await untilSeen(made, { a: '2' });
  });

  test('in all pods that share one', async () => {
    const uids = Array.from({ length: 110 }, (_, index) => `p${index}`);
    await using made = await volumesOfObjects();
    for (const uid of uids) made.objects.podUids.add(uid);
    made.objects.setConfigMap('c', { a: '1' });
    const podOf = (uid: string): Pod => ({
      ...podWith([ofConfig]),
      metadata: { ...podWith([]).metadata, uid },
    });
    await Promise.all(uids.map((uid) => stateOf(made.volumes, podOf(uid))));
    made.objects.setConfigMap('c', { a: '2' });
    for (const uid of uids) await untilSeen(made, { a: '2' }, 'configmap', uid);
  });

  test('until it is released', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    await stateOf(made.volumes, podWith([ofConfig]));
    made.objects.setConfigMap('c', { a: '2' });
    await made.volumes.release(podId);
    made.objects.setConfigMap('c', { a: '3' });
    await made.clock.advance(1000);
    await assert.rejects(stat(made.pathOf('configmap')), { code: 'ENOENT' });
  });
});

describe('a pod whose objects are not there yet', () => {
  test('waits for the answer of the API, which is no failure, and goes on at once', async () => {
    await using made = await volumesOfObjects();
    const message = 'the API has not answered yet';
    made.objects.putConfigMap('c', { state: 'waiting', message });
    const pod = podWith([ofConfig]);
    made.volumes.want(pod);
    const waiting = { state: 'waiting', reason: '', message: `volume "v": ${message}` };
    await waitFor('the first look', () => JSON.stringify(made.volumes.want(pod)) === JSON.stringify(waiting));
    made.objects.setConfigMap('c', { a: '1' });
    await waitFor('its volume', () => made.volumes.want(pod).state === 'ready');
    assert.deepEqual(await made.seen('configmap'), { a: '1' });
  });

  test('says which is missing, and goes on as soon as it is made, though the next try is far away', async () => {
    await using made = await volumesOfObjects();
    const pod = podWith([ofConfig]);
    await stateOf(made.volumes, pod);
    await made.clock.advance(60_000);
    made.objects.setConfigMap('c', { a: '1' });
    await waitFor('its volume', () => made.volumes.want(pod).state === 'ready');
  });
});

describe('what changes by itself', () => {
  test('a token is written anew when it is to be renewed, and again later where that fails', async () => {
    await using made = await volumesOfObjects();
    made.tokens.renewMs = made.clock.now() + 3_600_000;
    await stateOf(made.volumes, podWith([ofToken]));
    await made.clock.advance(3_599_000);
    assert.equal(made.tokens.asked.length, 1);
    made.tokens.failure = new Error('failed to fetch token: no answer');
    await made.clock.advance(2000);
    await waitFor('the Event', () => made.events.length === 1);
    assert.deepEqual(made.events, [
      'Warning FailedMount: MountVolume.SetUp failed for volume "v" : failed to fetch token: no answer',
    ]);
    assert.deepEqual(await made.seen('projected'), { token: 'token 1 of web for ' });
    made.tokens.failure = undefined;
    made.tokens.renewMs = made.clock.now() + 3_600_000;
    await untilRetried(made);
    assert.match((await made.seen('projected'))['token'] ?? '', /^token [2-9]/);
    const asked = made.tokens.asked.length;
    await made.clock.advance(3_000_000);
    assert.equal(made.tokens.asked.length, asked);
    await made.clock.advance(600_000);
    await waitFor('the next renewal', () => made.tokens.asked.length === asked + 1);
  });

  test('a token is renewed soon after the wall clock was set forward', async () => {
    await using made = await volumesOfObjects();
    made.tokens.renewMs = made.clock.now() + 3_600_000;
    await stateOf(made.volumes, podWith([ofToken]));
    made.clock.setWall(7_200_000);
    await made.clock.advance(60_000);
    await waitFor('a new token', () => made.tokens.asked.length > 1);
  });

  test('labels that change while the volume is being made', async () => {
    await using made = await volumesOfObjects();
    const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    const pod = podWith([{ name: 'v', downwardAPI: { items } }]);
    made.volumes.want(pod);
    await waitFor('its folder', () => existsSync(made.pathOf('downward-api')));
    made.volumes.want({ ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } });
    await untilSeen(made, { labels: 'a="b"' }, 'downward-api');
  });

  test('labels and annotations of the pod', async () => {
    await using made = await volumesOfObjects();
    const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    const pod = podWith([{ name: 'v', downwardAPI: { items } }]);
    await stateOf(made.volumes, pod);
    assert.deepEqual(await made.seen('downward-api'), { labels: '' });
    made.volumes.want({ ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } });
    await untilSeen(made, { labels: 'a="b"' }, 'downward-api');
  });
});
