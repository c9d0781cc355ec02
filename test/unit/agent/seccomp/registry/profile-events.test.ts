import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import type { SampleRegistry } from './sample-registry.ts';
import { good, other, podNaming, sampleRegistry } from './sample-registry.ts';

const told = ({ events }: SampleRegistry) =>
  events.map(
    ({ subject, happening }) => `${subject.kind}/${subject.name} ${happening.type} ${happening.reason}`,
  );

/** Waits for so many further Events, and takes them. */
async function next(sample: SampleRegistry, count: number): Promise<SampleRegistry['events']> {
  await waitFor(`${count} Events`, () => sample.events.length >= count);
  return sample.events.splice(0, count);
}

test('pods and node are told when a profile in use changes, breaks, goes and comes back, and of no other', async () => {
  await using sample = await sampleRegistry({
    pods: [
      podNaming('web', { pod: 'used.json', containers: { app: undefined, side: 'other.json' } }),
      podNaming('idle', {}),
    ],
  });
  const used = join(sample.folder, 'used.json');
  await mkdir(sample.folder);
  for (const name of ['used.json', 'other.json', 'unused.json'])
    await writeFile(join(sample.folder, name), good);
  await sample.becomes('used.json', 'valid');
  await sample.becomes('other.json', 'valid');
  sample.events.length = 0; // what was said while the files were not there yet

  await writeFile(join(sample.folder, 'unused.json'), 'broken');
  await sample.becomes('unused.json', 'invalid');
  assert.deepEqual(told(sample), []);

  await writeFile(used, other);
  await waitFor('both to be told', () => sample.events.length === 2);
  assert.deepEqual(told(sample), [
    'Pod/web Normal SeccompProfileChanged',
    'Node/node-1 Normal SeccompProfileChanged',
  ]);
  const [onPod, onNode] = await next(sample, 2);
  assert.match(
    onPod?.happening.message ?? '',
    /^seccomp profile "used\.json" has changed from sha256:[0-9a-f]{12} to sha256:[0-9a-f]{12}; containers that run already keep the profile/,
  );
  assert.deepEqual(onPod?.subject, {
    kind: 'Pod',
    namespace: 'default',
    name: 'web',
    uid: 'uid-web',
    fieldPath: 'spec.containers{app}',
  });
  assert.match(onNode?.happening.message ?? '', /named by 1 pod of this node$/);

  await writeFile(used, 'broken');
  const [broken] = await next(sample, 2);
  assert.equal(broken?.happening.reason, 'SeccompProfileInvalid');
  assert.match(
    broken?.happening.message ?? '',
    /is not valid, no container can be started with it: defaultAction: wrong/,
  );

  await rm(used);
  const [missing] = await next(sample, 2);
  assert.deepEqual(
    [missing?.happening.type, missing?.happening.reason],
    ['Warning', 'SeccompProfileMissing'],
  );

  await writeFile(used, good);
  const [back] = await next(sample, 2);
  assert.deepEqual([back?.happening.type, back?.happening.reason], ['Normal', 'SeccompProfileChanged']);
  assert.match(back?.happening.message ?? '', /can be used now/);
  assert.deepEqual(told(sample), []);
});

test('a container that runs is told by its name that it keeps what it has', async () => {
  const pod = podNaming('web', { pod: 'used.json', containers: { app: undefined, side: undefined } });
  const common = { image: 'i', imageID: '', ready: true, restartCount: 0 };
  const running = (name: string) => ({
    name,
    ...common,
    state: { running: { startedAt: '2025-01-01T00:00:00Z' } },
  });
  const status = {
    phase: 'Running',
    containerStatuses: [running('app'), { name: 'side', ...common, state: { waiting: {} } }],
  };
  await using sample = await sampleRegistry({ pods: [{ ...pod, status }] });
  await mkdir(sample.folder);
  await writeFile(join(sample.folder, 'used.json'), good);
  await sample.becomes('used.json', 'valid');
  sample.events.length = 0;
  await writeFile(join(sample.folder, 'used.json'), other);
  const [event] = await next(sample, 2);
  assert.match(
    event?.happening.message ?? '',
    /; container app runs and keeps the profile that it was started with$/,
  );
});

test('a pod that comes to a broken or missing profile is told at once, one that has ended never', async () => {
  await using sample = await sampleRegistry();
  await mkdir(sample.folder);
  await writeFile(join(sample.folder, 'bad.json'), 'broken');
  await sample.becomes('bad.json', 'invalid');
  assert.deepEqual(told(sample), []);
  const ended = { ...podNaming('old', { pod: 'bad.json' }), status: { phase: 'Succeeded' } };
  sample.setPods([podNaming('one', { pod: 'bad.json' }), podNaming('two', { pod: 'none.json' }), ended]);
  await sample.becomes('none.json', 'missing');
  assert.deepEqual(
    told(sample)
      .filter((line) => line.startsWith('Pod'))
      .sort(),
    ['Pod/one Warning SeccompProfileInvalid', 'Pod/two Warning SeccompProfileMissing'],
  );

  sample.setPods([podNaming('one', { pod: 'bad.json' })]);
  sample.setPods([podNaming('one', { pod: 'bad.json' }), podNaming('three', { pod: 'bad.json' })]);
  assert.deepEqual(
    told(sample)
      .filter((line) => line.startsWith('Pod'))
      .slice(2),
    ['Pod/three Warning SeccompProfileInvalid'],
  );
  assert.equal(sample.registry.find('none.json'), undefined, 'nobody names it any more');
});

test('the one container that is meant is told by the list that it stands in', async () => {
  const { spec, ...pod } = podNaming('web', { containers: { app: undefined } });
  const securityContext = { seccompProfile: { type: 'Localhost', localhostProfile: 'none.json' } };
  const initContainers = [{ name: 'first', securityContext }];
  const privileged = { name: 'free', securityContext: { ...securityContext, privileged: true } };
  const containers = [...(spec?.containers ?? []), privileged];
  await using sample = await sampleRegistry({ pods: [{ ...pod, spec: { containers, initContainers } }] });
  const [event] = await next(sample, 2);
  assert.equal(event?.subject.fieldPath, 'spec.initContainers{first}');
  assert.deepEqual(sample.registry.uses().get('none.json')?.[0]?.containers, ['first']);
});

test('a path that leaves the folder is followed for nobody', async () => {
  await using sample = await sampleRegistry();
  sample.setPods([
    podNaming('up', { pod: '../outside.json' }),
    podNaming('root', { pod: '/etc/passwd' }),
    podNaming('inner', { pod: 'a/../../b.json' }),
  ]);
  assert.deepEqual(sample.registry.profiles(), []);
  assert.equal(sample.registry.find('../outside.json'), undefined);
});
