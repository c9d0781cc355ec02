import { groupName } from '../../../api/index.ts';

/** The API groups that default roles speak of. Those of other servers are named too: reviews are asked about them. */
export interface Groups {
  access: string;
  rbac: string;
  authentication: string;
  authorization: string;
  certificates: string;
  coordination: string;
  discovery: string;
  events: string;
  networking: string;
}

export function groupsWith(suffix: string): Groups {
  const group = (name: string) => groupName(name, suffix);
  return {
    access: group('access.nodeward.io'),
    rbac: group('rbac.authorization'),
    authentication: group('authentication'),
    authorization: group('authorization'),
    certificates: group('certificates'),
    coordination: group('coordination'),
    discovery: group('discovery'),
    events: group('events'),
    networking: group('networking'),
  };
}
