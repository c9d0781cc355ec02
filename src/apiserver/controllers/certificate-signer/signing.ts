import type { CertificateSigningRequest } from '../../../api/index.ts';
import { nodeKind } from '../../../api/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import { nodeNameOf } from '../../authz/index.ts';
import type { NodeSigner } from '../../pki/index.ts';
import { SigningRefusedError } from '../../pki/index.ts';
import type { Registry } from '../../registry/index.ts';
import { ownAddresses, reportedAddresses } from '../node-addresses.ts';

export interface SigningOptions {
  registry: Registry;
  signer: NodeSigner;
  /** Names and addresses of the control plane itself: no node may have them. */
  controlPlaneNames: readonly string[];
}

/** Answers the certificate, PEM, or why there is none for a request; throws for what may pass. */
export type Sign = (
  request: CertificateSigningRequest,
  usage: 'client' | 'serving',
) => Promise<string | SigningRefusedError>;

/** Signs for whoever a request shows to be a node, or to speak for one. */
export function signing({ registry, signer, controlPlaneNames }: SigningOptions): Sign {
  const nodes = registry.of(nodeKind);

  /** The node that a request is for: the caller itself; for an administrator the one that the request names. */
  async function nodeFor({ spec }: CertificateSigningRequest, csrPem: string): Promise<string> {
    const user = { name: spec.username ?? '', groups: spec.groups ?? [], extra: {} };
    const node = nodeNameOf(user);
    if (node !== undefined) return node;
    if (!user.groups.includes(mastersGroup)) {
      throw new SigningRefusedError(
        `user ${JSON.stringify(user.name)} is no node agent and may not ask for a node's certificate`,
      );
    }
    return await signer.nodeIn(csrPem);
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

  async function sign(request: CertificateSigningRequest, usage: 'client' | 'serving'): Promise<string> {
    const csrPem = Buffer.from(request.spec.request, 'base64').toString('utf8');
    const node = await nodeFor(request, csrPem);
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
