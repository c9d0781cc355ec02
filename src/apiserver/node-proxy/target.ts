import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import type { Node } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { NamedNode } from './node-name.ts';

/*
 * Nodes write their addresses and their port themselves, so the holder of a node's credentials decides where the control
 * plane connects to. Three measures keep that from being a way into the control plane's network:
 *
 *   - Only IP addresses of the Node are used, never names: the owner of a DNS name decides where it leads, and can change
 *     that at any time.
 *   - Addresses whose meaning depends on the machine are refused: link-local (where clouds keep their credentials),
 *     unspecified, multicast. Loopback is accepted only for a node whose bootID is that of this machine's kernel: the
 *     agent that has embedded this control plane on a machine without a network.
 *   - Nothing is sent before the other side has presented a certificate of the cluster's authority for exactly this node
 *     (`identity.ts`): which server listens at an address does not matter then.
 */

/** The address of a node's agent. */
export interface Target {
  readonly node: string;
  /** In the order in which they are tried. */
  readonly addresses: readonly string[];
  readonly port: number;
}

const maxAddresses = 4;
const preferred = ['InternalIP', 'ExternalIP'];

/**
 * Returns the address of a node's agent. Throws 503 for a node whose status has no port or no acceptable address, and 400
 * for another port than the node's. `bootId` is that of this machine.
 */
export function resolveTarget(node: Node, { name, port: wanted }: NamedNode, bootId: string): Target {
  const { addresses = [], daemonEndpoints, nodeInfo } = node.status ?? {};
  const port = daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  if (port < 1 || port > 65_535) throw nodeUnreachable(name, 'it has not told on which port its agent is');
  if (wanted !== undefined && wanted !== port) {
    throw new StatusError('BadRequest', `node ${name} can be reached on its agent's port ${port} only`);
  }
  const published = preferred.flatMap((type) => addresses.filter((each) => each.type === type));
  const isHere = bootId !== '' && nodeInfo?.bootID === bootId;
  const accepted = [...new Set(published.map(({ address }) => address))].filter((one) =>
    isAcceptable(one, isHere),
  );
  if (accepted.length > 0) return { node: name, addresses: accepted.slice(0, maxAddresses), port };
  throw nodeUnreachable(
    name,
    published.length === 0
      ? 'it has told no IP address of its agent'
      : `none of its addresses can be reached from here: ${published
          .slice(0, maxAddresses)
          .map(({ address }) => address.slice(0, 64))
          .join(', ')}`,
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const nowhere = new BlockList();
nowhere.addSubnet('0.0.0.0', 8);
nowhere.addSubnet('169.254.0.0', 16);
nowhere.addSubnet('224.0.0.0', 3); // multicast, reserved, broadcast
nowhere.addAddress('::', 'ipv6');
nowhere.addSubnet('fe80::', 10, 'ipv6');
nowhere.addSubnet('ff00::', 8, 'ipv6');
nowhere.addAddress('fd00:ec2::254', 'ipv6'); // a cloud's credentials

function isAcceptable(address: string, isHere: boolean): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  return !nowhere.check(address, type) && (isHere || !loopback.check(address, type));
}

function nodeUnreachable(name: string, why: string): StatusError {
  return new StatusError('ServiceUnavailable', `node ${name} cannot be reached: ${why}`);
}

/** The boot ID of this machine's kernel, constant until the next boot; empty when it cannot be read. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}
