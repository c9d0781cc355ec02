import { field, list, map, quantity, required, string, struct } from '../../schema/index.ts';
import { pointer } from './wire.ts';

/* Resource requests and limits of containers. */

const resourceClaim = struct('ResourceClaim', {
  name: required(1, string, "Name of one of the pod's resourceClaims."),
  request: field(2, string, 'One request of the claim; all of it when absent.'),
});

export const resourceRequirements = struct('ResourceRequirements', {
  limits: field(1, map(quantity), 'Most that may be used.'),
  requests: field(2, map(quantity), 'Least that is needed; the limits when absent.'),
  claims: field(3, list(resourceClaim, { list: 'map', keys: ['name'] }), 'Claims that the container uses.'),
});

export const podResourceClaim = struct('PodResourceClaim', {
  name: required(1, string, 'Name of the claim in the pod.'),
  resourceClaimName: field(3, string, 'Name of a ResourceClaim in the namespace of the pod.', pointer),
  resourceClaimTemplateName: field(
    4,
    string,
    'Name of a template that a ResourceClaim is made from.',
    pointer,
  ),
});
