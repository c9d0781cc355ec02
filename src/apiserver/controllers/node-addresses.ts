import { BlockList, isIP } from 'node:net';
import type { Node } from '../../api/index.ts';

/*
 * What a node may have in its serving certificate rests on what it says of itself, and every name in such a certificate
 * is one under which it could pass for somebody else. So its word counts only for addresses that nobody else has: not
 * the control plane, not another node, not "this machine". An administrator's word counts for what the node reports.
 */

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8, 'ipv4');
thisMachine.addAddress('0.0.0.0', 'ipv4');
thisMachine.addAddress('::1', 'ipv6');
thisMachine.addAddress('::', 'ipv6');

function meansThisMachine(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && thisMachine.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The addresses that a node reports, as an administrator may have them certified: all but those of "this machine". */
export function reportedAddresses(node: Node): string[] {
  const all = (node.status?.addresses ?? []).map(({ address }) => address);
  return all.filter((address) => address !== 'localhost' && !meansThisMachine(address));
}

/** The IP addresses that a node reports and that neither the control plane nor another node has. */
export function ownAddresses(node: Node, others: readonly Node[], controlPlane: readonly string[]): string[] {
  const taken = new Set([...controlPlane, ...others.flatMap(reportedAddresses)]);
  return reportedAddresses(node).filter((address) => isIP(address) !== 0 && !taken.has(address));
}
