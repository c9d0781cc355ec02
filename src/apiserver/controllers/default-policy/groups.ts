import { groupName } from '../../../api/index.ts';

/** The API groups in default roles, also those that only other servers serve: access reviews may ask about them. */
export interface Groups {
  access: string;
  placement: string;
  admission: string;
  rbac: string;
  authentication: string;
  authorization: string;
  certificates: string;
  coordination: string;
  discovery: string;
  events: string;
  metrics: string;
  networking: string;
  resource: string;
  storage: string;
}

export function resolveGroups(suffix: string): Groups {
  const group = (name: string) => groupName(name, suffix);
  return {
    access: group('access.nodeward.io'),
    placement: group('scheduling.nodeward.io'),
    admission: group('admissionregistration'),
    rbac: group('rbac.authorization'),
    authentication: group('authentication'),
    authorization: group('authorization'),
    certificates: group('certificates'),
    coordination: group('coordination'),
    discovery: group('discovery'),
    events: group('events'),
    metrics: group('metrics'),
    networking: group('networking'),
    resource: group('resource'),
    storage: group('storage'),
  };
}
