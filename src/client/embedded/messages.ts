import { isRecord } from '../../api/index.ts';

/*
 * What an agent and the control plane that it started say to each other over the channel between the two processes:
 * life, stop, and signatures. Everything else goes over the API. Each side checks what it receives: the two may be of
 * different versions for as long as it takes to replace a file under a running agent.
 *
 *     agent                               control plane
 *       │ ◄──────────────── ready ───────────── │   once it serves
 *       │ ── ping ─────────────────────────────►│
 *       │ ◄──────────────── pong ────────────── │   from its main event loop
 *       │ ── sign {id, csr, usage, node} ──────►│
 *       │ ◄── signed {id, pem} | refused {id} ──│
 *       │ ── stop ─────────────────────────────►│   or the channel closes: the agent is gone
 */

/** Asks for a certificate of a node; the control plane alone decides what is signed. */
export interface SignMessage {
  type: 'sign';
  /** Comes back with the answer. */
  id: number;
  csrPem: string;
  usage: 'client' | 'serving';
  node: string;
  /** Names and addresses under which the node is reached now. */
  addresses: string[];
}
/** What the control plane is told. */
export type ToControlPlane = { type: 'ping' } | { type: 'stop' } | SignMessage;

/** Where the control plane serves. */
export interface ReadyMessage {
  type: 'ready';
  /** `https://host:port` */
  url: string;
  /** PEM of the cluster's authority. */
  ca: string;
  /** Absolute path of the administrator's kubeconfig. */
  kubeconfig: string;
}
/** What the agent is told. */
export type ToAgent =
  | ReadyMessage
  | { type: 'pong' }
  | { type: 'signed'; id: number; pem: string }
  | { type: 'refused'; id: number; why: string }
  /** The control plane ends; told before it does, so that the agent can say why. */
  | { type: 'failed'; message: string; exitCode: number };

/** The message that an agent sent, or undefined when it is none. */
export function readToControlPlane(value: unknown): ToControlPlane | undefined {
  if (!isRecord(value)) return undefined;
  const { type, id, csrPem, usage, node, addresses } = value;
  if (type === 'ping' || type === 'stop') return { type };
  if (type !== 'sign' || !isCount(id) || !isText(csrPem) || !isText(node) || !isTextList(addresses))
    return undefined;
  return usage === 'client' || usage === 'serving' ? { type, id, csrPem, usage, node, addresses } : undefined;
}

/** The id of a message that means to ask for a signature but cannot be read, so that it can be answered at all. */
export function unreadableRequest(value: unknown): number | undefined {
  const isRequest = isRecord(value) && value['type'] === 'sign' && readToControlPlane(value) === undefined;
  return isRequest && isCount(value['id']) ? value['id'] : undefined;
}

/** The message that a control plane sent, or undefined when it is none. */
export function readToAgent(value: unknown): ToAgent | undefined {
  if (!isRecord(value)) return undefined;
  const { type, id, pem, why, url, ca, kubeconfig, message, exitCode } = value;
  switch (type) {
    case 'pong':
      return { type };
    case 'ready':
      return isServerUrl(url) && isCertificate(ca) && isPath(kubeconfig)
        ? { type, url, ca, kubeconfig }
        : undefined;
    case 'signed':
      return isCount(id) && isCertificate(pem) ? { type, id, pem } : undefined;
    case 'refused':
      return isCount(id) && isText(why) ? { type, id, why } : undefined;
    case 'failed':
      return isText(message) && isExitCode(exitCode) ? { type, message, exitCode } : undefined;
    default:
      return undefined;
  }
}

const textLimit = 64 * 1024;
const listLimit = 1000;

/** Cuts a text for people to what the other side accepts. */
export function cutText(text: string): string {
  return text.length <= textLimit ? text : `${text.slice(0, textLimit - 1)}…`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textLimit;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isExitCode(value: unknown): value is number {
  return isCount(value) && value <= 255;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= listLimit && value.every(isText);
}

function isServerUrl(value: unknown): value is string {
  return isText(value) && URL.canParse(value) && new URL(value).protocol === 'https:';
}

function isCertificate(value: unknown): value is string {
  return isText(value) && value.includes('-----BEGIN CERTIFICATE-----');
}

function isPath(value: unknown): value is string {
  return isText(value) && value.startsWith('/');
}
