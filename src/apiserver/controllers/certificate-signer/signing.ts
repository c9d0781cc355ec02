import type { CertificateSigningRequest } from '../../../api/index.ts';
import { groupName, nodeKind } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { bootstrapNodeNames, mastersGroup } from '../../authn/index.ts';
import type { Authorizer } from '../../authz/index.ts';
import { nodeNameOf } from '../../authz/index.ts';
import type { NodeRequest, NodeSigner } from '../../pki/index.ts';
import { isUsualServerName, SigningRefusedError } from '../../pki/index.ts';
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
  /** Names and addresses of the control plane itself, of all its servers: no node may have them. */
  controlPlaneNames(): readonly string[];
}

/** A request that may be answered by itself once the node in whose name it is made is not heard any more. */
export interface Delay {
  node: string;
  why: string;
}

/** What a certificate is for: a node as a client or a server, or any user that somebody has approved. */
export type SignedUsage = 'client' | 'serving' | 'user';

/**
 * Answers the certificate, PEM, or why there is none for a request, or undefined while nobody has approved it; throws for
 * what may pass.
 */
export type Sign = (
  request: CertificateSigningRequest,
  usage: SignedUsage,
) => Promise<string | SigningRefusedError | Delay | undefined>;

/**
 * Signs for whoever a request shows to be a node, or to speak for one: a node itself, an administrator, for client
 * certificates whoever may create `certificatesigningrequests/nodeclient` (nodes that join) or, of nodes,
 * `certificatesigningrequests/selfnodeclient`, and everybody whose request somebody has approved. Of client certificates that
 * are not for nodes these are all.
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
    // a node's name is in its serving certificate, with which it could pass for the API
    if (names === undefined && isUsualServerName(node)) {
      throw new SigningRefusedError(
        `${node} is a name of the control plane itself: only a token for that node gets it`,
      );
    }
    const sign = alive(node);
    if (sign === undefined) return node;
    const why = `${sign}: its name is not given to whoever joins. It is when the node is not heard any more, or by hand: kubectl certificate approve`;
    return { node, why };
  }

  /** What may be in the certificate beside the node's name, and what else it tells; undefined while it has told nothing. */
  function addressesOf(
    name: string,
    { spec }: CertificateSigningRequest,
  ): { addresses: string[]; doubtful?: string[] } | undefined {
    const { items } = nodes.storage.list(nodes.prefix(''), '', 0);
    const all = items.map((stored) => nodes.encoding.read(stored));
    const node = all.find(({ metadata }) => metadata?.name === name);
    if (node === undefined || (node.status?.addresses ?? []).length === 0) return undefined;
    const reported = reportedAddresses(node);
    if (spec.groups?.includes(mastersGroup)) return { addresses: reported };
    const others = all.filter((other) => other !== node);
    return { addresses: ownAddresses(node, others, controlPlaneNames()), doubtful: reported };
  }

  async function sign(
    request: CertificateSigningRequest,
    usage: SignedUsage,
  ): Promise<string | Delay | undefined> {
    const csrPem = Buffer.from(request.spec.request, 'base64').toString('utf8');
    if (usage === 'user') {
      if (!hasCondition(request, 'Approved')) return undefined;
      return await signer.signClient({ csrPem, ...wishesOf(request), withheld: [mastersGroup] });
    }
    const node = await nodeFor(request, usage, csrPem);
    if (typeof node !== 'string') return node;
    const known = addressesOf(node, request);
    if (usage === 'serving' && known === undefined) {
      throw new Error(`node ${node} has not told its addresses yet`);
    }
    return await signer.sign({ csrPem, node, usage, ...(known ?? { addresses: [] }), ...wishesOf(request) });
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

/** What a request says of its certificate beside itself. */
function wishesOf({ spec }: CertificateSigningRequest): Pick<NodeRequest, 'lifetimeMs' | 'usages'> {
  const { expirationSeconds: seconds, usages } = spec;
  return {
    ...(seconds === undefined ? {} : { lifetimeMs: seconds * 1000 }),
    ...(usages === undefined ? {} : { usages }),
  };
}

/** Who has made a request, as the server wrote it down then. */
function userOf({ spec }: CertificateSigningRequest): User {
  const { username: name = '', uid, groups = [], extra = {} } = spec;
  return { name, ...(uid === undefined ? {} : { uid }), groups, extra };
}
