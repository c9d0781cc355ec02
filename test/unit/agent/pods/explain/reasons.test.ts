import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ImageState } from '../../../../../src/agent/images/index.ts';
import { explainPod, podReasons } from '../../../../../src/agent/pods/explain/index.ts';
import { backoffKey, planPod } from '../../../../../src/agent/pods/plan/index.ts';
import { formatTime } from '../../../../../src/api/index.ts';
import { describePod } from '../../../../../src/cli/pods/explanation.ts';
import { withoutColour } from '../../../../../src/cli/terminal/colour.ts';
import type { Given } from '../plan/support.ts';
import {
  ago,
  container,
  deadSandbox,
  exited,
  inputOf,
  nowMs,
  pod,
  running,
  sidecar,
} from '../plan/support.ts';

/* A person asks why a pod does not run: for each reason there is an answer, with the next try and what to do. */

type Case = Given & { readonly image?: ImageState };

const none = { sandboxes: [] };
const failure = (reason: string, message: string) => ({ reason, message, atMs: nowMs, count: 1 });
const notStarted = (reason: string, message: string): Given => ({
  known: { web: { attempt: 0, failure: failure(reason, message) } },
});
const image = (reason: string, message: string, untilMs?: number): Case => ({
  image: { state: 'failed', reason, message, untilMs },
});
const refuse = (reason: string, message: string): Given => ({
  ...none,
  record: { isAdmitted: false },
  termination: { cause: 'failed', graceSeconds: 0, sinceMs: nowMs, reason, message },
});
const ending = { cause: 'deleted', graceSeconds: 30, sinceMs: ago(10) } as const;
const backoff = {
  web: { backoff: { key: backoffKey(container('web')), waitMs: 40_000, sinceMs: ago(60), afterId: 'web-2' } },
};

/** In how many seconds it is tried by itself; undefined: when something changes. */
type Row = [what: string, given: Case, reason: string, message: RegExp, nextSeconds?: number];

const waiting: readonly Row[] = [
  [
    'the node has not decided',
    { ...none, record: { isAdmitted: false } },
    'ContainerCreating',
    /not accepted/,
  ],
  [
    'no CNI',
    { ...none, isNetworkReady: false, networkMessage: 'cni plugin not initialized' },
    'NetworkNotReady',
    /cni plugin not initialized/,
  ],
  [
    'the network plugin fails',
    { ...none, sandboxFailure: failure('FailedCreatePodSandBox', 'no free address') },
    'FailedCreatePodSandBox',
    /no free address/,
    1,
  ],
  [
    'a volume is missing',
    {
      ...none,
      volumes: {
        state: 'waiting',
        reason: 'FailedMount',
        message: 'volume "v": no such folder',
        untilMs: nowMs + 5000,
      },
    },
    'FailedMount',
    /volume "v": no such folder/,
    5,
  ],
  [
    'volumes are being set up',
    {
      ...none,
      volumes: { state: 'waiting', reason: '', message: 'volume "v" is mounted', untilMs: undefined },
    },
    'ContainerCreating',
    /volume "v" is mounted/,
  ],
  [
    'the sandbox is being made',
    { ...none, underWay: [{ kind: 'runSandbox', attempt: 0 }] },
    'ContainerCreating',
    /sandbox is being made/,
  ],
  [
    'folders are being made',
    { ...none, isPrepared: false },
    'ContainerCreating',
    /folders, cgroup and devices/,
  ],
  ['the sandbox has ended', { sandboxes: [deadSandbox()] }, 'ContainerCreating', /the last one has ended/],
  ['its image is being pulled', { images: { web: 'pulling' } }, 'ContainerCreating', /pulling web/],
  [
    'its image is not there',
    image('ErrImagePull', 'app:1: not found', nowMs + 10_000),
    'ErrImagePull',
    /not found/,
    10,
  ],
  [
    'the pull secret is missing',
    image(
      'ImagePullBackOff',
      'Back-off pulling image "app:1": ErrImagePull: no basic auth credentials',
      nowMs + 20_000,
    ),
    'ImagePullBackOff',
    /no basic auth credentials/,
    20,
  ],
  [
    'its image must not be pulled',
    image('ErrImageNeverPull', 'not present with pull policy of Never', nowMs + 10_000),
    'ErrImageNeverPull',
    /pull policy of Never/,
    10,
  ],
  [
    'the name is none',
    image('InvalidImageName', "couldn't parse image name"),
    'InvalidImageName',
    /couldn't parse/,
  ],
  [
    'the registry is away',
    image('RegistryUnavailable', 'image pull failed', nowMs + 10_000),
    'RegistryUnavailable',
    /image pull failed/,
    10,
  ],
  [
    'the image service is away',
    image('ImageInspectError', 'Failed to inspect image', nowMs + 500),
    'ImageInspectError',
    /Failed to inspect/,
    0.5,
  ],
  [
    'another container is first',
    { pod: pod({ regular: [container('a'), container('b')] }), images: { a: 'pulling' } },
    'ContainerCreating',
    /pulling a/,
  ],
  [
    'an init container runs',
    { pod: pod({ init: [container('i')] }), containers: [running('i')] },
    'PodInitializing',
    /init container i has not finished/,
  ],
  [
    'a sidecar has not started',
    { pod: pod({ init: [sidecar('s', { startupProbe: {} })] }), containers: [running('s')] },
    'PodInitializing',
    /sidecar s has not started/,
  ],
  [
    'a seccomp profile is missing',
    notStarted('CreateContainerError', 'cannot load seccomp profile'),
    'CreateContainerError',
    /seccomp profile/,
    1,
  ],
  [
    'a config map is missing',
    notStarted('CreateContainerConfigError', 'configmap "x" not found'),
    'CreateContainerConfigError',
    /configmap "x" not found/,
    10,
  ],
  [
    'the command is missing',
    notStarted('RunContainerError', 'exec: "nope": not found'),
    'RunContainerError',
    /"nope"/,
    1,
  ],
  [
    'a device plugin fails',
    notStarted('PreStartHookError', 'the plugin has left'),
    'PreStartHookError',
    /plugin has left/,
    1,
  ],
  [
    'devices cannot be had',
    notStarted('UnexpectedAdmissionError', 'no healthy devices'),
    'UnexpectedAdmissionError',
    /no healthy/,
    1,
  ],
  [
    'its hook fails',
    notStarted('PostStartHookError', 'the postStart hook failed'),
    'PostStartHookError',
    /postStart hook/,
    1,
  ],
  [
    'it keeps ending',
    { containers: [exited('web', 1, 3, { finishedMs: ago(10) })], known: backoff },
    'CrashLoopBackOff',
    /back-off 40s/,
    30,
  ],
  [
    'it is being deleted',
    { containers: [running('web')], termination: ending },
    'Terminating',
    /containers are being stopped: web/,
  ],
  [
    'it cannot be stopped',
    {
      ...{ containers: [running('web')], termination: ending },
      stopFailures: new Map([
        ['container web-0', { ...failure('FailedKillPod', 'the shim hangs'), count: 3 }],
      ]),
    },
    'Terminating',
    /3 tries have failed: the shim hangs/,
  ],
  [
    'what it held cannot be released',
    { ...none, termination: ending, cleanupFailure: failure('FailedCleanup', 'device busy') },
    'FailedCleanup',
    /device busy/,
    1,
  ],
];

const refused: readonly (readonly [reason: string, message: string])[] = [
  ['OutOfcpu', "Pod was rejected: Node didn't have enough resource: cpu"],
  ['OutOfexample.com/gpu', "Pod was rejected: Node didn't have enough resource: example.com/gpu"],
  ['NodePorts', "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports"],
  ['TaintToleration', 'Pod was rejected: Predicate TaintToleration failed'],
  ['NodeAffinity', 'Pod was rejected: Predicate NodeAffinity failed'],
  ['SysctlForbidden', 'Pod was rejected: forbidden sysctl'],
  ['DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
];

function explain({ image, ...given }: Case) {
  const { images, ...input } = inputOf(given);
  const all = { ...input, images: image === undefined ? images : new Map([...images, ['web', image]]) };
  const plan = planPod(all);
  const waitsSinceMs = new Map([
    ['', ago(60)],
    ['web', ago(60)],
  ]);
  const explanation = explainPod({ ...all, plan, timeline: [], waitsSinceMs });
  return { explanation, text: describePod({ ...explanation }, nowMs).text(withoutColour) };
}

describe('why a pod does not run', () => {
  for (const [what, given, reason, message, nextSeconds] of waiting)
    test(`${what}: ${reason}`, () => {
      const { explanation, text } = explain(given);
      const { waitsFor, containers } = explanation;
      assert.equal(waitsFor?.reason, reason);
      assert.match(waitsFor.message, message);
      const next = nextSeconds === undefined ? undefined : formatTime(nowMs + nextSeconds * 1000);
      assert.equal(waitsFor.next, next);
      assert.match(text, /^waits(?: for 60s)?: /m);
      assert.match(text, /^next: (?:it is tried again (?:in|now)|it goes on as soon as that changes)/m);
      const known: Readonly<Record<string, { readonly advice?: string }>> = podReasons;
      const { advice } = known[reason] ?? {};
      if (advice !== undefined) assert.ok(text.includes(`to do: ${advice}`), text);
      for (const container of containers.filter(({ state }) => state === 'waiting'))
        assert.ok(container.reason && container.message, `${container.name} waits and does not say why`);
    });

  for (const [reason, message] of refused)
    test(`the node does not take it, or ends it: ${reason}`, () => {
      const { explanation, text } = explain(refuse(reason, message));
      assert.deepEqual([explanation.ends?.reason, explanation.ends?.message], [reason, message]);
      assert.ok(text.includes(`${reason}: ${message}\nto do: `), text);
    });
});
