import type { Reply, Target } from './connection.ts';
import { requestBytes } from './connection.ts';
import type { Load } from './load.ts';
import { loadOf, measure } from './load.ts';

export const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const versionMark = Buffer.from('"resourceVersion":"');

export const nameOf = (lease: number) => `node-${String(lease).padStart(5, '0')}`;

/** A Lease as its node sends it; `version` is that of the one it replaces, empty to create it. */
export function leaseBody(lease: number, version: string, renewal: number): string {
  const name = nameOf(lease);
  return JSON.stringify({
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace: 'kube-node-lease', ...(version === '' ? {} : { resourceVersion: version }) },
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: 40,
      renewTime: new Date(1_790_000_000_000 + renewal).toISOString().replace('Z', '000Z'),
    },
  });
}

/** A fleet of node agents: each has a lease and renews it with the version that it was last answered. */
export class Fleet {
  readonly #versions: string[];

  constructor(nodes: number) {
    this.#versions = Array.from({ length: nodes }, () => '');
  }

  get size(): number {
    return this.#versions.length;
  }

  /** Makes the leases. */
  async join(target: Target): Promise<void> {
    const create = (lease: number) => ({ method: 'POST', path: leases, body: leaseBody(lease, '', 0) });
    const answered = (reply: Reply, lease: number) => {
      this.#versions[lease] = versionIn(reply);
    };
    await measure(target, { ...loadOf(this.size, 64, create), answered });
  }

  /** `count` renewals; each connection belongs to the same share of the fleet from the first to the last. */
  renewals(count: number, connections: number): Load {
    const share = Math.floor(this.size / connections);
    const passes = new Uint32Array(connections);
    const leaseOf = (connection: number) => connection * share + ((passes[connection] ?? 0) % share);
    return {
      count,
      connections,
      request: (index, connection) => {
        const lease = leaseOf(connection);
        const body = leaseBody(lease, this.#versions[lease] ?? '', index);
        return requestBytes({ method: 'PUT', path: `${leases}/${nameOf(lease)}`, body });
      },
      answered: (reply, _index, connection) => {
        this.#versions[leaseOf(connection)] = versionIn(reply);
        passes[connection] = (passes[connection] ?? 0) + 1;
      },
    };
  }
}

/** The resourceVersion of the object in an answer. */
export function versionIn({ bytes, bodyAt }: Reply): string {
  const at = bytes.indexOf(versionMark, bodyAt) + versionMark.length;
  return bytes.toString('latin1', at, bytes.indexOf(0x22, at));
}
