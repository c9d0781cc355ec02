import { isRecord } from '../../api/index.ts';

/*
 * The messages between an agent and the control plane that it started, over the IPC channel of the two processes:
 * liveness, stop, and signatures. Everything else goes over the API. Each side validates what it receives: the two may be
 * of different versions if the program was replaced while the agent runs.
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
  /** Is repeated in the response. */
  id: number;
  csrPem: string;
  usage: 'client' | 'serving';
  node: string;
  /** The current names and addresses of the node. */
  addresses: string[];
}
/** From the agent. */
export type ToControlPlane = { type: 'ping' } | { type: 'stop' } | SignMessage;

/** The control plane serves now. */
export interface ReadyMessage {
  type: 'ready';
  /** `https://host:port` */
  url: string;
  /** PEM of the cluster's authority. */
  ca: string;
  /** Absolute path of the administrator's kubeconfig. */
  kubeconfig: string;
}
/** From the control plane. */
export type ToAgent =
  | ReadyMessage
  | { type: 'pong' }
  | { type: 'signed'; id: number; pem: string }
  | { type: 'refused'; id: number; why: string }
  /** The control plane is about to exit, for this reason. */
  | { type: 'failed'; message: string; exitCode: number };

/** Validates a message from an agent; undefined if it is none. */
export function readToControlPlane(value: unknown): ToControlPlane | undefined {
  if (!isRecord(value)) return undefined;
  const { type, id, csrPem, usage, node, addresses } = value;
  if (type === 'ping' || type === 'stop') return { type };
  if (type !== 'sign' || !isNonNegativeInteger(id) || !isText(csrPem) || !isText(node) || !isTexts(addresses))
    return undefined;
  return usage === 'client' || usage === 'serving' ? { type, id, csrPem, usage, node, addresses } : undefined;
}

/** The id of an invalid request for a signature, so that it can be refused; undefined for anything else. */
export function findInvalidRequestId(value: unknown): number | undefined {
  const isRequest = isRecord(value) && value['type'] === 'sign' && readToControlPlane(value) === undefined;
  return isRequest && isNonNegativeInteger(value['id']) ? value['id'] : undefined;
}

/** Validates a message from a control plane; undefined if it is none. */
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
      return isNonNegativeInteger(id) && isCertificate(pem) ? { type, id, pem } : undefined;
    case 'refused':
      return isNonNegativeInteger(id) && isText(why) ? { type, id, why } : undefined;
    case 'failed':
      return isText(message) && isExitCode(exitCode) ? { type, message, exitCode } : undefined;
    default:
      return undefined;
  }
}

const maxTextLength = 64 * 1024;
const maxListLength = 1000;

/** Truncates a text to the length that the other side accepts. */
export function truncateText(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength - 1)}…`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTextLength;
}

function isNonNegativeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isExitCode(value: unknown): value is number {
  return isNonNegativeInteger(value) && value <= 255;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= maxListLength && value.every(isText);
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
