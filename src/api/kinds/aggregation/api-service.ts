import { checkName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { bool, bytes, field, int32, list, required, string, struct, time } from '../../schema/index.ts';
import { causesOf, invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';
import { statusPart } from '../workloads/display.ts';

const serviceReference = struct('ServiceReference', {
  namespace: field(1, string, 'Namespace of the Service.'),
  name: field(2, string, 'Name of the Service.'),
  port: field(3, int32, 'Port of the Service; 443 when absent.', pointer),
});

const spec = struct('APIServiceSpec', {
  service: field(1, serviceReference, 'Who serves it; without one, this server itself.'),
  group: field(2, string, 'Group that is served.'),
  version: field(3, string, 'Version that is served.'),
  insecureSkipTLSVerify: field(4, bool, 'Whether the certificate of the server is not checked.'),
  caBundle: field(5, bytes, 'PEM of the authorities that sign its certificate.'),
  groupPriorityMinimum: field(7, int32, 'Where the group stands among the groups.', { written: true }),
  versionPriority: field(8, int32, 'Where the version stands in its group.', { written: true }),
});

const condition = struct('APIServiceCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

const root = objectStruct('APIService', {
  spec: field(2, spec, 'Desired state.', { default: {} }),
  status: field(
    3,
    struct('APIServiceStatus', {
      conditions: field(1, list(condition, keyed('type')), 'Conditions of the object.'),
    }),
    'Observed state.',
    { default: {} },
  ),
});

/** Which server serves a group and version. */
export interface APIService extends Infer<typeof root> {}

const usualPort = 443;
const maxPort = 65_535;
const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;

function withDefaults(service: APIService): APIService {
  const { service: target } = service.spec ?? {};
  if (target === undefined) return service;
  return { ...service, spec: { ...service.spec, service: { ...target, port: target.port ?? usualPort } } };
}

function validate({ metadata, spec: given = {}, status }: APIService): Cause[] {
  const { group = '', version = '', groupPriorityMinimum: most = 0, versionPriority: priority = 0 } = given;
  const [name, wanted] = [metadata?.name ?? '', `${version}.${group}`];
  const states = ['True', 'False', 'Unknown'];
  return [
    ...(name === wanted
      ? []
      : [
          invalidValue(
            'metadata.name',
            name,
            `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`,
          ),
        ]),
    ...(group === '' && version !== 'v1'
      ? [requiredValue('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : invalidUnless('spec.group', group, checkName('subdomain', group))),
    ...invalidUnless('spec.version', version, checkName('hostLabel', version)),
    ...(most <= 0 || most > maxGroupPriority
      ? [invalidValue('spec.groupPriorityMinimum', most, 'must be positive and less than 20000')]
      : []),
    ...(priority <= 0 || priority > maxVersionPriority
      ? [invalidValue('spec.versionPriority', priority, 'must be positive and less than 1000')]
      : []),
    ...targetCauses(given),
    ...causesOf(status?.conditions, ({ status: state }, index) =>
      states.includes(state) ? [] : [unsupportedValue(`status.conditions[${index}].status`, state, states)],
    ),
  ];
}

function targetCauses({
  service,
  caBundle = '',
  insecureSkipTLSVerify: isUnchecked = false,
}: Infer<typeof spec>): Cause[] {
  const flag = 'spec.insecureSkipTLSVerify';
  if (service === undefined)
    return [
      ...(caBundle === ''
        ? []
        : [
            invalidValue(
              'spec.caBundle',
              `${Buffer.byteLength(caBundle, 'base64')} bytes`,
              'local APIServices may not have a caBundle',
            ),
          ]),
      ...(isUnchecked
        ? [invalidValue(flag, true, 'local APIServices may not have insecureSkipTLSVerify')]
        : []),
    ];
  const { namespace = '', name = '', port = usualPort } = service;
  return [
    ...(namespace === '' ? [requiredValue('spec.service.namespace')] : []),
    ...(name === '' ? [requiredValue('spec.service.name')] : []),
    ...(port < 1 || port > maxPort
      ? [
          invalidValue(
            'spec.service.port',
            port,
            `port is not valid: must be between 1 and ${maxPort}, inclusive`,
          ),
        ]
      : []),
    ...(isUnchecked && caBundle !== ''
      ? [invalidValue(flag, true, 'may not be true if caBundle is present')]
      : []),
  ];
}

function availability({ status }: APIService): string {
  const found = status?.conditions?.find(({ type }) => type === 'Available');
  if (found === undefined) return 'Unknown';
  return found.status === 'True' || !found.reason ? found.status : `${found.status} (${found.reason})`;
}

export const apiServiceKind = defineKind<APIService>({
  group: 'apiregistration',
  version: 'v1',
  kind: 'APIService',
  doc: 'A group and version, and the server that serves it. Nothing here passes requests on to it.',
  resource: 'apiservices',
  singular: 'apiservice',
  categories: ['api-extensions'],
  namespaced: false,
  unconditionalUpdate: false,
  nameRule: 'pathSegment',
  root,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  warnings: ({ spec: { service } = {} }) =>
    service === undefined
      ? []
      : ['nothing in nodeward passes requests on to other servers: the group is not served'],
  validate,
  columns: [
    textColumn('Service', 0, 'Who serves it.', ({ spec: { service } = {} }) =>
      service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`,
    ),
    textColumn('Available', 0, 'Whether it can be reached.', availability),
    ageColumn,
  ],
});
