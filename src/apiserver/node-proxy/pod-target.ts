import { BlockList, isIP } from 'node:net';
import type { Pod } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';

/** A pod as named in the path. */
export interface NamedPod {
  readonly isSecure: boolean;
  readonly name: string;
  /** Number or name of a port; empty: the first one that the pod declares. */
  readonly port: string;
}

/** `NAME`, `NAME:PORT`, `http:NAME:PORT` or `https:NAME:PORT`; as in the reference, PORT may be empty. Throws 400. */
export function readPodName(text: string): NamedPod {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  if (parts.length <= 3 && name !== '' && ['', 'http', 'https'].includes(scheme)) {
    return { isSecure: scheme === 'https', name, port };
  }
  throw new StatusError('BadRequest', `invalid pod request ${JSON.stringify(text.slice(0, 300))}`);
}

/** Where a pod listens. */
export interface PodTarget {
  readonly isSecure: boolean;
  readonly address: string;
  readonly port: number;
}

/**
 * The address of a port of the pod. Throws 400 for a pod without an address, for one at an address that is not a pod's, and for a
 * port that the pod has not.
 */
export function resolvePod(
  { spec, status }: Pod,
  { isSecure, name, port }: NamedPod,
  isAllowed: (address: string) => boolean = isGlobal,
): PodTarget {
  const address = status?.podIP ?? '';
  if (address === '') {
    const phase = status?.phase ?? 'Pending';
    throw new StatusError('BadRequest', `pod ${name} has no address to connect to, it is ${phase}`);
  }
  if (!isAllowed(address)) throw new StatusError('BadRequest', 'address not allowed');
  const declared = (spec?.containers ?? []).flatMap(({ ports = [] }) => ports);
  const usual = isSecure ? 443 : 80;
  if (port === '') return { isSecure, address, port: declared[0]?.containerPort ?? usual };
  const number = /^\d{1,5}$/.test(port)
    ? Number(port)
    : declared.find((each) => each.name === port)?.containerPort;
  if (number !== undefined && number >= 1 && number <= 65_535) return { isSecure, address, port: number };
  throw new StatusError('BadRequest', `pod ${name} has no port ${JSON.stringify(port.slice(0, 100))}`);
}

/** Agents tell the addresses of pods: those that mean another machine for everybody who uses them are none of a pod. */
const local = new BlockList();
local.addSubnet('0.0.0.0', 8);
local.addSubnet('127.0.0.0', 8);
local.addSubnet('169.254.0.0', 16);
local.addSubnet('224.0.0.0', 3); // multicast, reserved, broadcast
local.addAddress('::', 'ipv6');
local.addAddress('::1', 'ipv6');
local.addSubnet('fe80::', 10, 'ipv6');
local.addSubnet('ff00::', 8, 'ipv6');
local.addAddress('fd00:ec2::254', 'ipv6'); // a cloud's credentials

function isGlobal(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  return !local.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
