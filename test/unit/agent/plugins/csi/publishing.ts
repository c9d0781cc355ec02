import type { CsiPublisher } from '../../../../../src/agent/plugins/csi/index.ts';
import { createCsiPublisher } from '../../../../../src/agent/plugins/csi/index.ts';
import { readNodeIds } from '../../../../../src/agent/plugins/csi/node-metadata.ts';
import type { CSINode, Node } from '../../../../../src/api/index.ts';
import { csiNodeKind, nodeKind } from '../../../../../src/api/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import type { ApiCalls, ApiClient } from '../../../../../src/client/index.ts';
import { createClient } from '../../../../../src/client/index.ts';
import { waitFor } from '../../../../support/index.ts';
import type { TestServer } from '../../../apiserver/support/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

export interface Publishing extends AsyncDisposable {
  readonly publisher: CsiPublisher;
  /** Of an administrator. */
  readonly admin: ApiClient;
  readonly node: string;
  csiNode(): Promise<CSINode>;
  stored(): Promise<Node>;
  /** Waits until the CSINode and the annotation hold exactly these drivers. */
  untilTold(...names: readonly string[]): Promise<void>;
  logged(): string;
}

export interface PublishingOptions {
  readonly node: string;
  /** What stands between the agent and the API. */
  readonly between?: (api: ApiCalls) => ApiCalls;
  readonly lingerMs?: number;
  readonly graceMs?: number;
  readonly resyncMs?: number;
}

/** A node that exists, with its own credentials, and a publisher that runs. */
export async function startPublishing(server: TestServer, options: PublishingOptions): Promise<Publishing> {
  const { node, between = (api) => api, lingerMs = 50, graceMs = 60_000, resyncMs = 50 } = options;
  await using opening = new AsyncDisposableStack();
  const clientOf = async (commonName: string, organization: string) => {
    const { cert, key } = await server.issue({ commonName, organizations: [organization] });
    const url = `https://127.0.0.1:${server.port}`;
    return opening.use(createClient({ server: url, ca: server.running.ca, cert, key }));
  };
  const admin = await clientOf('admin', 'system:masters');
  const agent = await clientOf(`system:node:${node}`, 'system:nodes');
  const { log, text: logged } = recordedLog();
  const publisher = createCsiPublisher({
    nodeName: node,
    api: between(agent),
    clock: systemClock,
    log,
    resyncMs,
    nodeLookMs: resyncMs,
    lingerMs,
    graceMs,
  });
  const stopping = new AbortController();
  const running = publisher.run(stopping.signal, () => undefined);
  opening.defer(async () => {
    stopping.abort();
    await running;
  });
  const stack = opening.move();
  const csiNode = () => admin.get(csiNodeKind, node);
  const stored = () => admin.get(nodeKind, node);
  return {
    publisher,
    admin,
    node,
    csiNode,
    stored,
    logged,
    async untilTold(...names) {
      const wanted = names.toSorted().join();
      await waitFor(`the CSINode and the Node to tell of ${wanted || 'no driver'}`, async () => {
        const drivers = (await csiNode()).spec.drivers.map(({ name }) => name);
        const ids = [...readNodeIds(await stored()).keys()];
        return drivers.sort().join() === wanted && ids.sort().join() === wanted;
      });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
