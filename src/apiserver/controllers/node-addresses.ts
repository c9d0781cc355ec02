import { BlockList, isIP } from 'node:net';
import type { Node } from '../../api/index.ts';

/*
 * The addresses in a node's serving certificate come from the node's own report, and with every address in it the node
 * could impersonate another server. So a reported address counts only when neither the control plane nor another node
 * has it and it does not mean "this machine". An administrator may have all other reported addresses certified.
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

/** Who else has what a node reports: another node, or the control plane. */
export function addressHolders(
  node: Node,
  others: readonly Node[],
  controlPlane: readonly string[],
): Map<string, string> {
  const reported = new Set(reportedAddresses(node));
  const held = [
    ...controlPlane.map((address): [string, string] => [address, 'the control plane']),
    ...others.flatMap((other) =>
      reportedAddresses(other).map((address): [string, string] => [address, `node ${other.metadata?.name}`]),
    ),
  ];
  return new Map(held.filter(([address]) => reported.has(address)));
}

/** The IP addresses that a node reports and that neither the control plane nor another node has. */
export function ownAddresses(node: Node, others: readonly Node[], controlPlane: readonly string[]): string[] {
  const taken = new Set([...controlPlane, ...others.flatMap(reportedAddresses)]);
  return reportedAddresses(node).filter((address) => isIP(address) !== 0 && !taken.has(address));
}
