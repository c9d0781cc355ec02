import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ResourceClaim } from '../../../../../src/agent/plugins/claims/index.ts';
import { PodClaims } from '../../../../../src/agent/plugins/claims/index.ts';
import type { DraDriver } from '../../../../../src/agent/plugins/dra/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { fastClock } from '../../../../support/fast-clock.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const { signal } = new AbortController();

type Claims = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>;

/** A pod whose container `main` uses what it names, and `plain` nothing. */
function podOf(uid: string, resourceClaims: Claims, request?: string): Pod {
  const claims = resourceClaims.map(({ name }) => ({ name, ...(request === undefined ? {} : { request }) }));
  return {
    metadata: { namespace: 'default', name: `pod-${uid}`, uid },
    spec: { resourceClaims, containers: [{ name: 'main', resources: { claims } }, { name: 'plain' }] },
  };
}

const gpu: Claims = [{ name: 'gpu', resourceClaimName: 'shared' }];

function claimOf(
  name: string,
  change: { users?: string[]; drivers?: string[]; uid?: string; owner?: string } = {},
) {
  const { users = ['a', 'b'], drivers = ['gpu.example.com'], uid = `uid-${name}`, owner } = change;
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: owner, controller: true }];
  const results = drivers.map((driver) => ({ request: 'one', driver }));
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { namespace: 'default', name, uid, ownerReferences },
    status: {
      reservedFor: users.map((user) => ({ resource: 'pods', name: user, uid: user })),
      ...(drivers.length === 0 ? {} : { allocation: { devices: { results } } }),
    },
  } satisfies ResourceClaim;
}

/** A node with the drivers that are named, and what they are called for. */
class Node implements AsyncDisposable {
  readonly calls: string[] = [];
  readonly claims = new Map<string, ResourceClaim>();
  readonly drivers = new Set(['gpu.example.com', 'net.example.com']);
  readonly gone = new Set<string>();
  /** What the next calls answer. */
  fault: string | Error | undefined;
  /** Awaited by calls of drivers. */
  gate: Promise<void> | undefined;
  readonly #home: Awaited<ReturnType<typeof temporaryFolder>>;
  readonly #log = recordedLog();
  #end = new AbortController();
  #running: Promise<void> | undefined;
  #pods: PodClaims | undefined;

  constructor(home: Awaited<ReturnType<typeof temporaryFolder>>) {
    this.#home = home;
  }

  get path(): string {
    return join(this.#home.path, 'resource-claims.json');
  }

  get text(): string {
    return this.#log.text();
  }

  get pods(): PodClaims {
    assert.ok(this.#pods);
    return this.#pods;
  }

  /** What a restart of the agent does; before, it may be killed in the middle of a call. */
  async start(clockFactor = 1): Promise<void> {
    await this.stop();
    this.#end = new AbortController();
    const pods = new PodClaims({
      path: this.path,
      drivers: { driver: (name) => (this.drivers.has(name) ? this.#driver(name) : undefined) },
      readClaim: async (_namespace, name) => {
        const found = this.claims.get(name);
        if (found === undefined) throw new Error(`resourceclaims.resource.k8s.io "${name}" not found`);
        return found;
      },
      isKnown: (uid) => !this.gone.has(uid),
      ...{ clock: fastClock(clockFactor), log: this.#log.log },
    });
    this.#pods = pods;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running = Promise.resolve(pods.run(this.#end.signal, resolve));
    await promise;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
    await this.#pods?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#home[Symbol.asyncDispose]();
  }

  #driver(name: string): DraDriver {
    const call = async (what: string, claim: string, cancel: AbortSignal) => {
      this.calls.push(`${name.split('.')[0]} ${what} ${claim}`);
      const ended = new Promise<void>((resolve) => cancel.addEventListener('abort', () => resolve()));
      await (this.gate === undefined ? undefined : Promise.race([this.gate, ended]));
      cancel.throwIfAborted();
      if (this.fault instanceof Error) throw this.fault;
      return this.fault;
    };
    return {
      name,
      readiness: () => ({ isConnected: true, sinceMs: 0, endpoint: '', service: '', sockets: 1 }),
      prepare: async ([claim], cancel) => {
        assert.ok(claim);
        const error = await call('prepare', claim.name, cancel);
        const cdi = (request: string) => ({
          ...{ requests: [request], pool: 'p', device: request, shareId: undefined },
          cdiDeviceIds: [`${name}/device=${claim.name}-${request}`],
        });
        const devices = [cdi('one'), cdi('two/large')];
        return new Map([[claim.uid, error === undefined ? { devices } : { error }]]);
      },
      unprepare: async ([claim], cancel) => {
        assert.ok(claim);
        return new Map([[claim.uid, { error: await call('unprepare', claim.name, cancel) }]]);
      },
    };
  }
}

async function nodeWith(...claims: ResourceClaim[]): Promise<Node> {
  const node = new Node(await temporaryFolder('pod-claims-'));
  for (const claim of claims) node.claims.set(claim.metadata?.name ?? '', claim);
  await node.start();
  return node;
}

describe('the claims of a pod', () => {
  test('are prepared once, given to the containers that name them, and unprepared at the end', async () => {
    await using node = await nodeWith(claimOf('shared'));
    const pod = podOf('a', gpu);
    await node.pods.prepare(pod, signal);
    await node.pods.prepare(pod, signal);
    assert.deepEqual(await node.pods.devicesOf(pod, 'main', signal), [
      'gpu.example.com/device=shared-one',
      'gpu.example.com/device=shared-two/large',
    ]);
    assert.deepEqual(await node.pods.devicesOf(pod, 'plain', signal), []);
    await node.pods.release('a');
    await node.pods.release('a');
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared']);
    assert.deepEqual(JSON.parse(await readFile(node.path, 'utf8')).claims, []);
  });

  test('a container that names a request gets the devices of that one, with its alternatives', async () => {
    await using node = await nodeWith(claimOf('shared'));
    const ofRequest = (request: string) => node.pods.devicesOf(podOf('a', gpu, request), 'main', signal);
    assert.deepEqual(await ofRequest('one'), ['gpu.example.com/device=shared-one']);
    assert.deepEqual(await ofRequest('two'), ['gpu.example.com/device=shared-two/large']);
    assert.deepEqual(await ofRequest('tw'), []);
  });

  test('two pods share a claim until the second has ended', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await Promise.all(['a', 'b'].map((uid) => node.pods.prepare(podOf(uid, gpu), signal)));
    await node.pods.release('a');
    assert.deepEqual(node.calls, ['gpu prepare shared']);
    await node.pods.release('b');
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared']);
  });

  test('one that begins while the last one ends has it prepared again', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await node.pods.prepare(podOf('a', gpu), signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    node.gate = promise;
    const ending = node.pods.release('a');
    await waitFor('the driver to be called', () => node.calls.length === 2);
    const beginning = node.pods.prepare(podOf('b', gpu), signal);
    resolve();
    await Promise.all([ending, beginning]);
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared', 'gpu prepare shared']);
    assert.equal((await node.pods.devicesOf(podOf('b', gpu), 'main', signal)).length, 2);
  });

  test('each driver of a claim is called', async () => {
    const drivers = ['gpu.example.com', 'net.example.com', 'gpu.example.com'];
    await using node = await nodeWith(claimOf('shared', { drivers }));
    await node.pods.prepare(podOf('a', gpu), signal);
    assert.deepEqual(node.calls, ['gpu prepare shared', 'net prepare shared']);
  });

  test('that were made from a template, by the status of the pod', async () => {
    await using node = await nodeWith(claimOf('made', { owner: 'a' }));
    const pod = podOf('a', [{ name: 'gpu', resourceClaimTemplateName: 'template' }]);
    await assert.rejects(
      node.pods.prepare(pod, signal),
      /^Error: prepare dynamic resources: pod "default\/pod-a": ResourceClaim not created yet$/,
    );
    const made = (resourceClaimName?: string): Pod => ({
      ...pod,
      status: {
        resourceClaimStatuses: [{ name: 'gpu', ...(resourceClaimName ? { resourceClaimName } : {}) }],
      },
    });
    await node.pods.prepare(made(), signal); // none is needed
    assert.deepEqual(node.calls, []);
    await node.pods.prepare(made('made'), signal);
    assert.deepEqual(node.calls, ['gpu prepare made']);
  });

  test('the one of its extended resources goes to the containers that it was made for', async () => {
    await using node = await nodeWith(claimOf('extended'));
    const { spec, metadata = {} } = podOf('a', []);
    const requestMappings = [{ containerName: 'plain', resourceName: 'example.com/gpu', requestName: 'one' }];
    const status = { extendedResourceClaimStatus: { resourceClaimName: 'extended', requestMappings } };
    const pod: Pod = { metadata, ...(spec === undefined ? {} : { spec }), status };
    assert.deepEqual(await node.pods.devicesOf(pod, 'plain', signal), [
      'gpu.example.com/device=extended-one',
    ]);
    assert.deepEqual(await node.pods.devicesOf(pod, 'main', signal), []);
  });
});

describe('a pod that cannot have its claims', () => {
  const owned = [{ name: 'gpu', resourceClaimTemplateName: 'template' }];
  const cases: Record<string, [claim: ResourceClaim | undefined, message: string]> = {
    'is told that there is none': [
      undefined,
      'fetch ResourceClaim shared: resourceclaims.resource.k8s.io "shared" not found',
    ],
    'that it is for others': [
      claimOf('shared', { users: ['x'] }),
      'pod pod-a (a) is not allowed to use ResourceClaim shared (uid-shared)',
    ],
    'that nothing is allocated': [claimOf('shared', { drivers: [] }), 'ResourceClaim shared: not allocated'],
    'that its driver is not there': [
      claimOf('shared', { drivers: ['tpu.example.com'] }),
      'DRA driver tpu.example.com is not registered',
    ],
  };
  for (const [what, [claim, message]] of Object.entries(cases)) {
    test(`${what}, and leaves nothing behind`, async () => {
      await using node = await nodeWith(...(claim === undefined ? [] : [claim]));
      const expected = { message: `prepare dynamic resources: ${message}` };
      await assert.rejects(node.pods.prepare(podOf('a', gpu), signal), expected);
      await node.pods.release('a');
      assert.deepEqual(node.calls, []);
    });
  }

  test('is told that the claim was made for another one', async () => {
    await using node = await nodeWith(claimOf('shared', { owner: 'other' }));
    const status = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'shared' }] };
    await assert.rejects(
      node.pods.prepare({ ...podOf('a', owned), status }, signal),
      /: ResourceClaim default\/shared was not created for Pod default\/pod-a \(Pod is not owner\)$/,
    );
  });

  test('is told what its driver says; what that has begun is undone at the end', async () => {
    await using node = await nodeWith(claimOf('shared'));
    node.fault = 'no such device';
    const failure = 'NodePrepareResources failed for ResourceClaim shared: no such device';
    const expected = { message: `prepare dynamic resources: ${failure}` };
    await assert.rejects(node.pods.prepare(podOf('a', gpu), signal), expected);
    node.fault = undefined;
    await node.pods.release('a');
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared']);
  });

  test('is told of a claim of the same name that is still here', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await node.pods.prepare(podOf('a', gpu), signal);
    node.claims.set('shared', claimOf('shared', { uid: 'new' }));
    await assert.rejects(
      node.pods.prepare(podOf('b', gpu), signal),
      /: old ResourceClaim with same name shared and different UID uid-shared still exists \(previous pod force-deleted\?!\)$/,
    );
    await node.pods.release('a');
    await node.pods.prepare(podOf('b', gpu), signal);
  });
});

describe('on bad days', () => {
  test('a restart forgets nothing that is prepared', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await node.pods.prepare(podOf('a', gpu), signal);
    await node.start();
    node.claims.clear(); // the API is away
    assert.equal((await node.pods.devicesOf(podOf('a', gpu), 'main', signal)).length, 2);
    await node.pods.release('a');
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared']);
  });

  test('killed while the driver prepares, the claim is prepared again, or unprepared with the pod', async () => {
    await using node = await nodeWith(claimOf('shared'));
    node.gate = new Promise(() => undefined);
    const cut = node.pods.prepare(podOf('a', gpu), signal);
    const rejected = assert.rejects(cut, /the agent stops/);
    await waitFor('the driver to be called', () => node.calls.length === 1);
    await node.start();
    await rejected;
    node.gate = undefined;
    await node.pods.release('a');
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared']);
  });

  test('a driver that is gone keeps the claim of a pod that ends, until it is back', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await node.pods.prepare(podOf('a', gpu), signal);
    node.drivers.clear();
    const message = 'unprepare dynamic resources: DRA driver gpu.example.com is not registered';
    await assert.rejects(node.pods.release('a'), { message });
    await node.start();
    node.drivers.add('gpu.example.com');
    node.fault = 'busy';
    await assert.rejects(
      node.pods.release('a'),
      /NodeUnprepareResources failed for ResourceClaim shared: busy$/,
    );
    node.fault = undefined;
    await node.pods.release('a');
    await node.pods.release('a');
    assert.equal(node.calls.filter((call) => call.includes('unprepare')).length, 2);
  });

  test('what a pod has left that nobody knows is unprepared', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await node.pods.prepare(podOf('a', gpu), signal);
    node.gone.add('a');
    await node.start(1000);
    await waitFor('the driver to be called', () => node.calls.length === 2);
    assert.deepEqual(node.calls, ['gpu prepare shared', 'gpu unprepare shared']);
  });

  test('a pod that ends does not wait for the driver of its claims', async () => {
    await using node = await nodeWith(claimOf('shared'));
    node.gate = new Promise(() => undefined);
    const end = new AbortController();
    const preparing = node.pods.prepare(podOf('a', gpu), end.signal);
    await waitFor('the driver to be called', () => node.calls.length === 1);
    end.abort(new Error('the pod ends'));
    await assert.rejects(preparing, /the pod ends/);
  });

  test('a file that cannot be read is set aside, and claims are prepared again', async () => {
    await using node = await nodeWith(claimOf('shared'));
    await node.pods.prepare(podOf('a', gpu), signal);
    await node.stop();
    await writeFile(node.path, '{"claims": [{"name": 5}]}');
    await node.start();
    assert.match(node.text, /resource claims: .* cannot be used/);
    assert.equal((await node.pods.devicesOf(podOf('a', gpu), 'main', signal)).length, 2);
    assert.equal(node.calls.length, 2);
  });
});
