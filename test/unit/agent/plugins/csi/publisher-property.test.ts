/** Whatever happens to the CSINode, the Node, the API and the drivers: in the end the cluster knows those in use. */
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { nodeIdAnnotation } from '../../../../../src/agent/plugins/csi/node-metadata.ts';
import { csiNodeKind, nodeKind, StatusError } from '../../../../../src/api/index.ts';
import type { ApiCalls } from '../../../../../src/client/index.ts';
import { ConnectionError } from '../../../../../src/client/index.ts';
import { waitFor } from '../../../../support/index.ts';
import type { TestServer } from '../../../apiserver/support/index.ts';
import { startServer } from '../../../apiserver/support/index.ts';
import { driverOf } from './drivers.ts';
import type { Publishing } from './publishing.ts';
import { startPublishing } from './publishing.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server[Symbol.asyncDispose]());

const names = ['a.example.com', 'b.example.com', 'c.example.com'] as const;

type Step =
  | { kind: 'drivers'; drivers: { name: string; nodeId: string; maxVolumes: number | undefined }[] }
  | { kind: 'delete' | 'tamper' | 'unmark' | 'remake' }
  | { kind: 'break'; calls: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('drivers' as const),
    drivers: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...names),
        nodeId: fc.constantFrom('id-1', 'id-2'),
        maxVolumes: fc.constantFrom(undefined, 5),
      }),
      { selector: ({ name }) => name },
    ),
  }),
  fc.record({
    kind: fc.constantFrom('delete' as const, 'tamper' as const, 'unmark' as const, 'remake' as const),
  }),
  fc.record({ kind: fc.constant('break' as const), calls: fc.integer({ min: 1, max: 6 }) }),
);

/** Fails the next calls, half of them after they have taken effect. */
function createFaults() {
  let left = 0;
  const guarded = async <T>(call: () => Promise<T>): Promise<T> => {
    if (left <= 0) return await call();
    left -= 1;
    if (left % 2 === 0) await call();
    throw new ConnectionError('broken', 'the connection broke');
  };
  const between = (api: ApiCalls): ApiCalls => ({
    get: (kind, name, options) => guarded(() => api.get(kind, name, options)),
    create: (kind, object, options) => guarded(() => api.create(kind, object, options)),
    replace: (kind, object, options) => guarded(() => api.replace(kind, object, options)),
    patch: (kind, name, change, options) => guarded(() => api.patch(kind, name, change, options)),
  });
  return {
    between,
    fail(calls: number) {
      left = calls;
    },
  };
}

async function meddle({ admin, node, csiNode }: Publishing, kind: Step['kind']): Promise<void> {
  try {
    if (kind === 'delete') await admin.delete(csiNodeKind, node);
    if (kind === 'unmark') {
      await admin.patch(
        nodeKind,
        node,
        { metadata: { annotations: { [nodeIdAnnotation]: '?' } } },
        { as: 'merge' },
      );
    }
    if (kind === 'tamper') {
      const strange = { name: 'a.example.com', nodeID: 'strange', topologyKeys: ['strange'] };
      const now = await csiNode();
      await admin.replace(csiNodeKind, { ...now, spec: { drivers: [] } });
      const then = await csiNode();
      await admin.replace(csiNodeKind, { ...then, spec: { drivers: [strange] } });
    }
    if (kind === 'remake') {
      await admin.delete(nodeKind, node);
      await admin.create(nodeKind, { metadata: { name: node } });
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error; // somebody else was faster
  }
}

let nodes = 0;

test('the cluster knows the drivers that are in use, after whatever has happened', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
    nodes += 1;
    const node = `storm-${nodes}`;
    await server.admin.must('POST', '/api/v1/nodes', { metadata: { name: node } });
    const faults = createFaults();
    const options = { node, between: faults.between, lingerMs: 20, graceMs: 20, resyncMs: 20 };
    await using publishing = await startPublishing(server, options);
    let wanted: ReturnType<typeof driverOf>[] = [];
    for (const each of steps) {
      if (each.kind === 'drivers') {
        wanted = each.drivers.map((driver) => driverOf(driver.name, driver));
        publishing.publisher.publish(wanted);
      } else if (each.kind === 'break') faults.fail(each.calls);
      else await meddle(publishing, each.kind);
    }
    const told = wanted.map(({ name, nodeId, maxVolumes }) => [name, nodeId, maxVolumes]);
    await waitFor(`the cluster to know ${JSON.stringify(told)}`, async () => {
      const { spec, metadata } = await publishing.csiNode();
      const owner = metadata?.ownerReferences?.map(({ uid }) => uid).join();
      const present = spec.drivers.map(({ name, nodeID, allocatable }) => [name, nodeID, allocatable?.count]);
      const stored = await publishing.stored();
      const ids = Object.entries(JSON.parse(stored.metadata?.annotations?.[nodeIdAnnotation] ?? '{}'));
      return (
        owner === stored.metadata?.uid &&
        JSON.stringify(present.sort()) === JSON.stringify(told.sort()) &&
        JSON.stringify(ids.sort()) === JSON.stringify(told.map(([name, nodeId]) => [name, nodeId]))
      );
    });
  });
  await fc.assert(property, { numRuns: 8, endOnFailure: true });
});
