import type { CertificateSigningRequest, Node } from '../../../api/index.ts';
import { groupName, nodeKind } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { bootstrapNodeNames, mastersGroup } from '../../authn/index.ts';
import type { Authorizer } from '../../authz/index.ts';
import { nodeNameOf } from '../../authz/index.ts';
import type { NodeRequest, NodeSigner } from '../../pki/index.ts';
import { isUsualServerName, SigningRefusedError } from '../../pki/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import { addressHolders, ownAddresses, reportedAddresses } from '../node-addresses.ts';
import type { LiveNodes } from './live-nodes.ts';
import { hasCondition } from './requests.ts';

interface RequestSignerOptions extends SigningOptions {
  findSignOfLife: LiveNodes['findSignOfLife'];
}

export interface SigningOptions {
  registry: Registry;
  signer: NodeSigner;
  /** Decides who gets a client certificate without the approval of a person. */
  authorizer: Pick<Authorizer, 'authorize'>;
  /** Names and addresses of all servers of the control plane: no node may have them in its certificate. */
  controlPlaneNames(): readonly string[];
}

/** The request has to wait until `node`, for which it is made, is silent. */
export interface Delay {
  node: string;
  why: string;
}

/** A serving certificate needs the addresses of `node`, which it has not reported yet. */
export class AddressesMissingError extends Error {
  override readonly name = 'AddressesMissingError';
  readonly node: string;

  constructor(node: string) {
    super(`node ${node} has not told its addresses yet`);
    this.node = node;
  }
}

/** What a certificate is for: a node as a client or as a server, or any approved user. */
export type SignedUsage = 'client' | 'serving' | 'user';

/**
 * Signs node certificates for a node itself, for an administrator, and for approved requests. A client certificate also
 * needs a role unless its request is approved or an administrator's: `create` on
 * `certificatesigningrequests/nodeclient` (nodes that join) or, for a node itself, on
 * `certificatesigningrequests/selfnodeclient`. Client certificates of other users are signed for approved requests only.
 */
export class RequestSigner {
  readonly #options: RequestSignerOptions;
  readonly #nodes: Resource<Node>;
  readonly #group: string;

  constructor(options: RequestSignerOptions) {
    const { registry } = options;
    this.#options = options;
    this.#nodes = registry.of(nodeKind);
    this.#group = groupName('certificates', registry.groupSuffix);
  }

  /**
   * Returns the certificate in PEM, the reason why there is none, or undefined while the request needs an approval. Throws
   * when the failure may be temporary.
   */
  async sign(
    request: CertificateSigningRequest,
    usage: SignedUsage,
  ): Promise<string | SigningRefusedError | Delay | undefined> {
    try {
      return await this.#trySign(request, usage);
    } catch (error) {
      if (error instanceof SigningRefusedError) return error;
      throw error;
    }
  }

  /** As `sign`, but throws the SigningRefusedError. */
  async #trySign(
    request: CertificateSigningRequest,
    usage: SignedUsage,
  ): Promise<string | Delay | undefined> {
    const { signer } = this.#options;
    const csrPem = Buffer.from(request.spec.request, 'base64').toString('utf8');
    if (usage === 'user') {
      if (!hasCondition(request, 'Approved')) return undefined;
      return await signer.signClient({ csrPem, ...wishesOf(request), withheld: [mastersGroup] });
    }
    const node = await this.#findNode(request, usage, csrPem);
    if (typeof node !== 'string') return node;
    const known = this.#findAddresses(node, request);
    if (usage === 'serving' && known === undefined) {
      throw new AddressesMissingError(node);
    }
    return await signer.sign({ csrPem, node, usage, ...(known ?? { addresses: [] }), ...wishesOf(request) });
  }

  /** The node that a request is for: the caller itself, else the one that it names; undefined: it needs an approval. */
  async #findNode(
    request: CertificateSigningRequest,
    usage: 'client' | 'serving',
    csrPem: string,
  ): Promise<string | Delay | undefined> {
    const { signer } = this.#options;
    const user = userOf(request);
    const isApproved = hasCondition(request, 'Approved');
    const node = nodeNameOf(user);
    if (node !== undefined) {
      const needsRole = usage === 'client' && !isApproved;
      return !needsRole || (await this.#isAllowed(user, 'selfnodeclient')) ? node : undefined;
    }
    if (isApproved || user.groups.includes(mastersGroup)) return await signer.nodeIn(csrPem);
    if (usage !== 'client' || !(await this.#isAllowed(user, 'nodeclient'))) return undefined;
    return this.#checkJoining(user, await signer.nodeIn(csrPem));
  }

  /** Whether a role allows such requests without approval; as in the reference, by subresources that do not exist. */
  async #isAllowed(user: User, subresource: string): Promise<boolean> {
    const resource = {
      group: this.#group,
      version: 'v1',
      resource: 'certificatesigningrequests',
      subresource,
    };
    const { verdict } = await this.#options.authorizer.authorize(user, {
      verb: 'create',
      ...resource,
      namespace: '',
      name: '',
    });
    return verdict === 'allow';
  }

  /** A caller that joins may become any node that its token is for, but none that is alive: that node would lose its name. */
  #checkJoining(user: User, node: string): string | Delay {
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
    const sign = this.#options.findSignOfLife(node);
    if (sign === undefined) return node;
    const why = `${sign}: its name is not given to whoever joins. It is when the node is not heard any more, or when the request is approved by hand`;
    return { node, why };
  }

  /**
   * The addresses that may be in the certificate; `doubtful`: who else has what the node reports. Undefined while it has reported
   * none.
   */
  #findAddresses(
    name: string,
    { spec }: CertificateSigningRequest,
  ): { addresses: string[]; doubtful?: ReadonlyMap<string, string> } | undefined {
    const nodes = this.#nodes;
    const { items, unreadable = [] } = nodes.storage.list(nodes.prefix(''), '', 0);
    const unknown = unreadable.find(({ key }) => nodes.storage.get(key) === undefined);
    // thrown, and so tried again: an address of another node must not be in the certificate
    if (unknown !== undefined)
      throw new Error(`the addresses of ${unknown.key} are not known: ${unknown.why}`);
    const all = items.map((stored) => nodes.encoding.read(stored));
    const node = all.find(({ metadata }) => metadata?.name === name);
    if (node === undefined || (node.status?.addresses ?? []).length === 0) return undefined;
    const reported = reportedAddresses(node);
    if (spec.groups?.includes(mastersGroup)) return { addresses: reported };
    const others = all.filter((other) => other !== node);
    const controlPlane = this.#options.controlPlaneNames();
    const addresses = ownAddresses(node, others, controlPlane);
    return { addresses, doubtful: addressHolders(node, others, controlPlane) };
  }
}

/** The lifetime and usages that a request asks for. */
function wishesOf({ spec }: CertificateSigningRequest): Pick<NodeRequest, 'lifetimeMs' | 'usages'> {
  const { expirationSeconds: seconds, usages } = spec;
  return {
    ...(seconds === undefined ? {} : { lifetimeMs: seconds * 1000 }),
    ...(usages === undefined ? {} : { usages }),
  };
}

/** The user who made a request, as the server recorded it at its creation. */
function userOf({ spec }: CertificateSigningRequest): User {
  const { username: name = '', uid, groups = [], extra = {} } = spec;
  return { name, ...(uid === undefined ? {} : { uid }), groups, extra };
}
