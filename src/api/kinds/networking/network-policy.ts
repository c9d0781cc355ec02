import { checkCidr, extentOfCidr } from '../addresses.ts';
import {
  causesOf,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import { checkPort, checkPortName } from '../pod-validation/formats.ts';
import { formatSelector } from '../workloads/display.ts';
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from './description.ts';
import { networkPolicyRoot } from './description.ts';

/** Without directions, traffic to the pods is restricted, and that from them where there are rules for it. */
function withDefaults(policy: NetworkPolicy): NetworkPolicy {
  const { spec = {} } = policy;
  const { policyTypes = [], egress = [] } = spec;
  const withProtocols = <R extends { ports?: NetworkPolicyPort[] }>(rules: R[]): R[] =>
    rules.map((rule) =>
      rule.ports === undefined
        ? rule
        : { ...rule, ports: rule.ports.map((port) => ({ ...port, protocol: port.protocol ?? 'TCP' })) },
    );
  return {
    ...policy,
    spec: {
      ...spec,
      ...(spec.ingress === undefined ? {} : { ingress: withProtocols(spec.ingress) }),
      ...(spec.egress === undefined ? {} : { egress: withProtocols(spec.egress) }),
      policyTypes:
        policyTypes.length > 0 ? policyTypes : ['Ingress', ...(egress.length > 0 ? ['Egress'] : [])],
    },
  };
}

const directions = ['Egress', 'Ingress'];

function validate({ spec = {} }: NetworkPolicy): Cause[] {
  const { podSelector, ingress, egress, policyTypes = [] } = spec;
  return [
    ...labelSelectorCauses(podSelector, 'spec.podSelector'),
    ...causesOf(ingress, ({ ports, from }, index) => [
      ...portsCauses(ports, `spec.ingress[${index}].ports`),
      ...peersCauses(from, `spec.ingress[${index}].from`),
    ]),
    ...causesOf(egress, ({ ports, to }, index) => [
      ...portsCauses(ports, `spec.egress[${index}].ports`),
      ...peersCauses(to, `spec.egress[${index}].to`),
    ]),
    ...(policyTypes.length > directions.length
      ? [invalidValue('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes')]
      : causesOf(policyTypes, (type, index) =>
          directions.includes(type) ? [] : [unsupportedValue(`spec.policyTypes[${index}]`, type, directions)],
        )),
  ];
}

function portsCauses(ports: readonly NetworkPolicyPort[] | undefined, path: string): Cause[] {
  return causesOf(ports, ({ protocol, port, endPort }, index) => {
    const field = `${path}[${index}]`;
    const protocols = ['SCTP', 'TCP', 'UDP'];
    return [
      ...(protocol === undefined || protocols.includes(protocol)
        ? []
        : [unsupportedValue(`${field}.protocol`, protocol, protocols)]),
      ...(port === undefined ? [] : portCauses(port, `${field}.port`)),
      ...(endPort === undefined ? [] : endCauses(endPort, port, field)),
    ];
  });
}

function portCauses(port: number | string, field: string): Cause[] {
  return invalidUnless(field, port, typeof port === 'number' ? checkPort(port) : checkPortName(port));
}

function endCauses(endPort: number, port: number | string | undefined, field: string): Cause[] {
  if (port === undefined)
    return [requiredValue(`${field}.port`, 'must be specified if `endPort` is specified')];
  if (typeof port === 'string')
    return [requiredValue(`${field}.endPort`, 'may not be specified when `port` is non-numeric')];
  return [
    ...(endPort < port
      ? [invalidValue(`${field}.endPort`, endPort, 'must be greater than or equal to `port`')]
      : []),
    ...invalidUnless(`${field}.endPort`, endPort, checkPort(endPort)),
  ];
}

function peersCauses(peers: readonly NetworkPolicyPeer[] | undefined, path: string): Cause[] {
  return causesOf(peers, ({ podSelector, namespaceSelector, ipBlock }, index) => {
    const field = `${path}[${index}]`;
    const selected = podSelector !== undefined || namespaceSelector !== undefined;
    return [
      ...labelSelectorCauses(podSelector, `${field}.podSelector`),
      ...labelSelectorCauses(namespaceSelector, `${field}.namespaceSelector`),
      ...(ipBlock === undefined ? [] : blockCauses(ipBlock, `${field}.ipBlock`)),
      ...(ipBlock === undefined && !selected ? [requiredValue(field, 'must specify a peer')] : []),
      ...(ipBlock !== undefined && selected
        ? [forbiddenValue(field, 'may not specify both ipBlock and another peer')]
        : []),
    ];
  });
}

function blockCauses(
  { cidr, except = [] }: NonNullable<NetworkPolicyPeer['ipBlock']>,
  field: string,
): Cause[] {
  if (cidr === '') return [requiredValue(`${field}.cidr`)];
  const wrong = checkCidr(cidr);
  if (wrong !== undefined) return [invalidValue(`${field}.cidr`, cidr, wrong)];
  const whole = extentOfCidr(cidr);
  return causesOf(except, (range, index) => {
    const at = `${field}.except[${index}]`;
    const wrongRange = checkCidr(range);
    if (wrongRange !== undefined) return [invalidValue(at, range, wrongRange)];
    const { first, size } = extentOfCidr(range);
    const isInside = first >= whole.first && first + size <= whole.first + whole.size && size < whole.size;
    return isInside ? [] : [invalidValue(at, range, 'must be a strict subset of `cidr`')];
  });
}

/** What may reach some pods, and what they may reach. */
export const networkPolicyKind = defineKind<NetworkPolicy>({
  group: 'networking',
  version: 'v1',
  kind: 'NetworkPolicy',
  doc: 'What may reach some pods, and what they may reach; network plugins see to it.',
  resource: 'networkpolicies',
  singular: 'networkpolicy',
  shortNames: ['netpol'],
  namespaced: true,
  generation: 'spec',
  root: networkPolicyRoot,
  default: withDefaults,
  validate,
  columns: [
    textColumn('Pod-Selector', 0, 'Labels of the pods.', ({ spec }) => formatSelector(spec?.podSelector)),
    ageColumn,
  ],
});
