import { listNodeRules } from '../../authz/index.ts';
import type { Groups } from './groups.ts';
import type { DefaultRole } from './policy.ts';
import { pathRule, read, rule } from './policy.ts';

const health = ['/healthz', '/livez', '/readyz'];

/** What every user may read, and what users may ask about themselves. */
export function everyonesRoles({ authentication, authorization, certificates }: Groups): DefaultRole[] {
  const checks = health.flatMap((path) => [path, `${path}/*`]);
  const documents = ['/api', '/apis', '/openapi', '/version'].flatMap((path) => [path, `${path}/*`]);
  return [
    { name: 'system:discovery', rules: [pathRule(...checks, ...documents)] },
    { name: 'system:public-info-viewer', rules: [pathRule(...health, '/version', '/version/')] },
    {
      name: 'system:basic-user',
      rules: [
        rule('create', authorization, 'selfsubjectaccessreviews selfsubjectrulesreviews'),
        rule('create', authentication, 'selfsubjectreviews'),
      ],
    },
    {
      name: 'system:service-account-issuer-discovery',
      rules: [pathRule('/.well-known/openid-configuration', '/openid/v1/jwks')],
    },
    {
      name: 'system:cluster-trust-bundle-discovery',
      rules: [rule(read, certificates, 'clustertrustbundles')],
    },
  ];
}

/** For other programs of a cluster. */
export function programsRoles({ authentication, authorization }: Groups): DefaultRole[] {
  return [
    {
      name: 'system:monitoring',
      rules: [pathRule('/metrics', ...health, ...health.map((path) => `${path}/*`))],
    },
    {
      name: 'system:auth-delegator',
      rules: [
        rule('create', authentication, 'tokenreviews'),
        rule('create', authorization, 'subjectaccessreviews'),
      ],
    },
    { name: 'system:kubelet-api-admin', rules: [rule(read, '', 'nodes'), rule('*', '', nodeParts)] },
  ];
}

const nodeParts =
  'nodes/checkpoint nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats nodes/statusz';

/** For node agents that join, for the approval of their certificates, and for programs on nodes. */
export function nodeRoles({ certificates, events }: Groups): DefaultRole[] {
  const requests = 'certificatesigningrequests';
  const own = (part: string) => rule('create', certificates, `${requests}/${part}`);
  return [
    { name: 'system:node', rules: listNodeRules(suffixOf(certificates)) },
    { name: 'system:node-bootstrapper', rules: [rule(`create ${read}`, certificates, requests)] },
    { name: approvalRoleName(certificates, 'nodeclient'), rules: [own('nodeclient')] },
    { name: approvalRoleName(certificates, 'selfnodeclient'), rules: [own('selfnodeclient')] },
    {
      name: 'system:node-problem-detector',
      rules: [
        rule('get', '', 'nodes'),
        rule('patch', '', 'nodes/status'),
        rule('create patch update', '', 'events'),
        rule('create patch update', events, 'events'),
      ],
    },
  ];
}

/** The names of the signers that the reference knows. */
const signers = [
  'kube-apiserver-client',
  'kube-apiserver-client-kubelet',
  'kubelet-serving',
  'legacy-unknown',
] as const;

/** For those who approve the requests to one signer; writing the decision itself needs a role of its own. */
export function approverRoles({ certificates }: Groups): DefaultRole[] {
  return signers.map((signer) => ({
    name: `system:certificates.${suffixOf(certificates)}:${signer}-approver`,
    rules: [
      {
        verbs: ['approve'],
        apiGroups: [certificates],
        resources: ['signers'],
        resourceNames: [`kubernetes.io/${signer}`],
      },
    ],
  }));
}

/** The name of the role whose holders get such a certificate without the approval of a person. */
export function approvalRoleName(certificates: string, part: 'nodeclient' | 'selfnodeclient'): string {
  return `system:certificates.${suffixOf(certificates)}:certificatesigningrequests:${part}`;
}

/** `k8s.io` of `certificates.k8s.io`. */
function suffixOf(group: string): string {
  return group.slice(group.indexOf('.') + 1);
}
