import { checkName } from '../../api/index.ts';
import type { AlternativeNames, Pair, ParsedRequest, Subject } from '../../base/x509/index.ts';
import {
  issueForRequest,
  noNames,
  RequestError,
  readRequest,
  toCanonicalName,
} from '../../base/x509/index.ts';

/** The request of a node for a certificate, and what is known of the node. */
export interface NodeRequest {
  csrPem: string;
  node: string;
  usage: 'client' | 'serving';
  /** Every name and address of the node that is known; a serving certificate is good for these at most. */
  addresses: readonly string[];
  /** Names that the node claims but others have too, by who has them; a refusal says so when one of them is requested. */
  doubtful?: ReadonlyMap<string, string>;
  /** Wanted lifetime; shortened to a year, at least 10 minutes; default a year. */
  lifetimeMs?: number;
  /** Wanted key usages in the words of the certificates API; default those that fit `usage`. */
  usages?: readonly string[];
}

/** A request for a client certificate that an operator has approved. */
export interface ClientRequest extends Pick<NodeRequest, 'csrPem' | 'lifetimeMs' | 'usages'> {
  /** Organizations that are never granted in this way. */
  withheld: readonly string[];
}

/** A request that may be signed, and what its certificate is to say. */
export interface CheckedRequest {
  request: ParsedRequest;
  subject: Subject;
  names: AlternativeNames;
  use: 'client' | 'server';
}

/** Why a request is not signed, in words for the client that made it. */
export class SigningRefusedError extends Error {
  override readonly name = 'SigningRefusedError';
}

/** Signs node certificates, `system:node:NAME` of `system:nodes`, good for the node's own names; and client certificates. */
export interface NodeSigner {
  /** The certificate, PEM; throws SigningRefusedError. */
  sign(request: NodeRequest): Promise<string>;
  /**
   * A certificate by which its holder is known to the API as the user and groups in the request, PEM, as the signer
   * kubernetes.io/kube-apiserver-client does. It is for nothing else, and has no names. Throws SigningRefusedError.
   */
  signClient(request: ClientRequest): Promise<string>;
  /** The node that a request is for by its common name; throws SigningRefusedError. */
  nodeIn(csrPem: string): Promise<string>;
}

const userPrefix = 'system:node:';
const nodesOrganization = 'system:nodes';
const maxMs = 365 * 24 * 3600_000;
const minMs = 10 * 60_000;

/** `now`: wall clock, milliseconds. */
export function nodeSigner(authority: Pair, now: () => number): NodeSigner {
  return {
    async nodeIn(csrPem) {
      const { commonName } = (await parse(csrPem)).subject;
      if (commonName.startsWith(userPrefix)) return commonName.slice(userPrefix.length);
      throw new SigningRefusedError(`the common name ${JSON.stringify(commonName)} is no node's`);
    },
    async sign(nodeRequest) {
      const { request, subject, names, use } = await checkNodeRequest(nodeRequest);
      const lifetimeMs = lifetimeOf(nodeRequest.lifetimeMs);
      return await issueForRequest(authority, request, { subject, names, use, lifetimeMs, now: now() });
    },
    async signClient({ csrPem, lifetimeMs, usages, withheld }) {
      const request = await parse(csrPem);
      checkClient(request, withheld);
      checkUsages('client', usages, request.extendedKeyUsages);
      const { subject } = request;
      const issue = { subject, names: noNames, use: 'client', now: now() } as const;
      return await issueForRequest(authority, request, { ...issue, lifetimeMs: lifetimeOf(lifetimeMs) });
    },
  };
}

/**
 * Checks a request as the signers kubernetes.io/kube-apiserver-client-kubelet (`client`) and
 * kubernetes.io/kubelet-serving (`serving`) do; throws SigningRefusedError when it asks for anything more or less than
 * such a certificate has. It signs nothing.
 */
export async function checkNodeRequest(nodeRequest: NodeRequest): Promise<CheckedRequest> {
  const { node, usage, usages } = nodeRequest;
  const wrongName = checkName('subdomain', node);
  if (wrongName !== undefined) refuse(`${JSON.stringify(node)} is no name of a node: ${wrongName}`);
  const request = await parse(nodeRequest.csrPem);
  const { subject, others } = request;
  if (others.length > 0) refuse(`the request asks for more than a node may have: ${others.join(', ')}`);
  checkSubject(subject, node);
  const use = usage === 'client' ? 'client' : 'server';
  checkUsages(use, usages, request.extendedKeyUsages);
  return { request, subject, names: checkNames(request.names, nodeRequest), use };
}

function checkSubject({ commonName, organizations }: Subject, node: string): void {
  const expected = userPrefix + node;
  if (commonName !== expected) {
    refuse(`the common name must be ${expected}, not ${JSON.stringify(commonName)}`);
  }
  if (organizations.length !== 1 || organizations[0] !== nodesOrganization) {
    refuse(`the organization must be ${nodesOrganization} alone, not ${JSON.stringify(organizations)}`);
  }
}

function checkClient({ subject, names, others }: ParsedRequest, withheld: readonly string[]): void {
  if (others.length > 0) refuse(`the request asks for more than a user has: ${others.join(', ')}`);
  const asked = [...names.dnsNames, ...names.ipAddresses];
  if (asked.length > 0) refuse(`a client certificate has no names, but ${listNames(asked)} are asked for`);
  if (subject.commonName === '') refuse('the request has no common name: it is the name of the user');
  const group = subject.organizations.find((each) => withheld.includes(each));
  if (group !== undefined) refuse(`nobody gets the group ${group} by a request`);
}

const usageOids = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/** The certificates API names usages in `usages`; a request can name them in itself too. */
function checkUsages(
  use: 'client' | 'server',
  usages: readonly string[] | undefined,
  extendedKeyUsages: readonly string[],
): void {
  const wanted = `${use} auth`;
  const permitted = ['digital signature', 'key encipherment', wanted];
  const foreign = usages?.find((usage) => !permitted.includes(usage));
  if (foreign !== undefined)
    refuse(`the usage ${JSON.stringify(foreign)} is none of ${permitted.join(', ')}`);
  if (usages !== undefined && !usages.includes(wanted))
    refuse(`the usages must have ${JSON.stringify(wanted)}`);
  const oid = extendedKeyUsages.find((each) => each !== usageOids[use]);
  if (oid !== undefined) refuse(`the request asks for the key usage ${oid}, which is not "${wanted}"`);
}

function checkNames(
  names: AlternativeNames,
  { node, usage, addresses, doubtful = noHolders }: NodeRequest,
): AlternativeNames {
  const asked = [...names.dnsNames, ...names.ipAddresses];
  if (usage === 'client') {
    if (asked.length > 0) refuse(`a client certificate has no names, but ${listNames(asked)} are asked for`);
    return noNames;
  }
  if (asked.length === 0) refuse('a serving certificate needs at least one name or address');
  const own = new Set([node, ...addresses].map(toCanonicalName));
  const foreign = asked.filter((name) => !own.has(name));
  if (foreign.length > 0) {
    const holders = new Map([...doubtful].map(([name, holder]) => [toCanonicalName(name), holder]));
    const shared = foreign.filter((name) => holders.has(name));
    const named = shared.map((name) => `${holders.get(name)} has ${name} too`);
    const why = shared.length === 0 ? '' : ` alone: ${listNames(named)}; ${sharedNames}`;
    const known =
      foreign.length === 1
        ? 'is not known to be a name or address'
        : 'are not known to be names or addresses';
    refuse(`${listNames(foreign)} ${known} of node ${node}${why}`);
  }
  return names;
}

const noHolders: ReadonlyMap<string, string> = new Map();
const sharedNames =
  'what several have is certified to no node; delete a Node that is gone, or give each agent a --node-ip of its own';

const maxListedNames = 10;

function listNames(names: readonly string[]): string {
  const rest = names.length - maxListedNames;
  return names.slice(0, maxListedNames).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function lifetimeOf(wantedMs: number | undefined): number {
  if (wantedMs === undefined || !Number.isFinite(wantedMs)) return maxMs;
  return Math.min(Math.max(wantedMs, minMs), maxMs);
}

async function parse(csrPem: string): Promise<ParsedRequest> {
  try {
    return await readRequest(csrPem);
  } catch (error) {
    if (error instanceof RequestError) throw new SigningRefusedError(error.message, { cause: error });
    throw error;
  }
}

function refuse(why: string): never {
  throw new SigningRefusedError(why);
}
