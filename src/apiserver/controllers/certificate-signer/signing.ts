import type { CertificateSigningRequest } from '../../../api/index.ts';
import { groupName, nodeKind } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { bootstrapNodeNames, mastersGroup } from '../../authn/index.ts';
import type { Authorizer } from '../../authz/index.ts';
import { nodeNameOf } from '../../authz/index.ts';
import type { NodeSigner } from '../../pki/index.ts';
import { SigningRefusedError } from '../../pki/index.ts';
import type { Registry } from '../../registry/index.ts';
import { ownAddresses, reportedAddresses } from '../node-addresses.ts';
import type { LiveNodes } from './live-nodes.ts';
import { hasCondition } from './requests.ts';

export interface SigningParts extends SigningOptions {
  /** Why a node counts as alive, if it does. */
  alive: LiveNodes['alive'];
}

export interface SigningOptions {
  registry: Registry;
  signer: NodeSigner;
  /** Says who gets a client certificate without being approved by a person. */
  authorizer: Pick<Authorizer, 'authorize'>;
  /** Names and addresses of the control plane itself: no node may have them. */
  controlPlaneNames: readonly string[];
}

/** A request that may be answered by itself once the node in whose name it is made is not heard any more. */
export interface Delay {
  node: string;
  why: string;
}

/**
 * Answers the certificate, PEM, or why there is none for a request, or undefined while nobody has approved it; throws for
 * what may pass.
 */
export type Sign = (
  request: CertificateSigningRequest,
  usage: 'client' | 'serving',
) => Promise<string | SigningRefusedError | Delay | undefined>;

/**
 * Signs for whoever a request shows to be a node, or to speak for one: a node itself, an administrator, for client
 * certificates whoever may create `certificatesigningrequests/nodeclient` (nodes that join) or, of nodes,
 * `certificatesigningrequests/selfnodeclient`, and everybody whose request somebody has approved.
 */
export function signing({ registry, signer, alive, authorizer, controlPlaneNames }: SigningParts): Sign {
  const nodes = registry.of(nodeKind);
  const group = groupName('certificates', registry.groupSuffix);

  /** Whether a role says that such requests need no approval; as in the reference, by subresources that there are not. */
  async function mayHave(user: User, subresource: string): Promise<boolean> {
    const resource = { group, version: 'v1', resource: 'certificatesigningrequests', subresource };
    const { verdict } = await authorizer.authorize(user, {
      verb: 'create',
      ...resource,
      namespace: '',
      name: '',
    });
    return verdict === 'allow';
  }

  /** The node that a request is for: the caller itself, else the one that it names; undefined without an approval. */
  async function nodeFor(
    request: CertificateSigningRequest,
    usage: 'client' | 'serving',
    csrPem: string,
  ): Promise<string | Delay | undefined> {
    const user = userOf(request);
    const isApproved = hasCondition(request, 'Approved');
    const node = nodeNameOf(user);
    if (node !== undefined) {
      const needsRole = usage === 'client' && !isApproved;
      return !needsRole || (await mayHave(user, 'selfnodeclient')) ? node : undefined;
    }
    if (isApproved || user.groups.includes(mastersGroup)) return await signer.nodeIn(csrPem);
    if (usage !== 'client' || !(await mayHave(user, 'nodeclient'))) return undefined;
    return joining(user, await signer.nodeIn(csrPem));
  }

  /** Whoever joins may become any node that its token is for, but none that is alive: that would take its name away. */
  function joining(user: User, node: string): string | Delay {
    const names = user.extra[bootstrapNodeNames];
    if (names !== undefined && !names.includes(node)) {
      throw new SigningRefusedError(
        `the bootstrap token is not for node ${node} but for ${names.join(', ')}`,
      );
    }
    const sign = alive(node);
    if (sign === undefined) return node;
    const why = `${sign}: its name is not given to whoever joins. It is when the node is not heard any more, or by hand: kubectl certificate approve`;
    return { node, why };
  }

  /** What may be in the certificate beside the node's name; undefined while the node has not told its addresses. */
  function addressesOf(name: string, { spec }: CertificateSigningRequest): string[] | undefined {
    const { items } = nodes.storage.list(nodes.prefix(''), '', 0);
    const all = items.map((stored) => nodes.encoding.read(stored));
    const node = all.find(({ metadata }) => metadata?.name === name);
    if (node === undefined || (node.status?.addresses ?? []).length === 0) return undefined;
    if (spec.groups?.includes(mastersGroup)) return reportedAddresses(node);
    const others = all.filter((other) => other !== node);
    return ownAddresses(node, others, controlPlaneNames);
  }

  async function sign(
    request: CertificateSigningRequest,
    usage: 'client' | 'serving',
  ): Promise<string | Delay | undefined> {
    const csrPem = Buffer.from(request.spec.request, 'base64').toString('utf8');
    const node = await nodeFor(request, usage, csrPem);
    if (typeof node !== 'string') return node;
    const addresses = addressesOf(node, request);
    if (usage === 'serving' && addresses === undefined) {
      throw new Error(`node ${node} has not told its addresses yet`);
    }
    const { expirationSeconds: seconds, usages } = request.spec;
    return await signer.sign({
      csrPem,
      node,
      usage,
      addresses: addresses ?? [],
      ...(seconds === undefined ? {} : { lifetimeMs: seconds * 1000 }),
      ...(usages === undefined ? {} : { usages }),
    });
  }

  return async (request, usage) => {
    try {
      return await sign(request, usage);
    } catch (error) {
      if (error instanceof SigningRefusedError) return error;
      throw error;
    }
  };
}

/** Who has made a request, as the server wrote it down then. */
function userOf({ spec }: CertificateSigningRequest): User {
  const { username: name = '', uid, groups = [], extra = {} } = spec;
  return { name, ...(uid === undefined ? {} : { uid }), groups, extra };
}
