import type { ApiObject } from '../../../../src/api/index.ts';
import { createRequest, generateKeyPem } from '../../../../src/base/x509/index.ts';

/** Any object of the API, as a test looks at it. */
export interface Shown extends ApiObject {
  metadata: NonNullable<ApiObject['metadata']>;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export const nodes = '/api/v1/nodes';
export const namespaces = '/api/v1/namespaces';
export const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

export function leases(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}
export const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
export const allLeases = '/apis/coordination.k8s.io/v1/leases';

export const named = (name: string, more: object = {}) => ({ metadata: { name, ...more } });

/** A lease as a node agent writes it. */
export const lease = (name: string, more: object = {}) => ({
  metadata: { name, ...more },
  spec: { holderIdentity: name, leaseDurationSeconds: 40 },
});

/** Held for an hour by another controller manager: the controllers that the reference has there too write nothing meanwhile. */
export const otherControllerManager = () => ({
  metadata: { name: 'kube-controller-manager' },
  spec: {
    holderIdentity: 'other',
    leaseDurationSeconds: 3600,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  },
});

/** The request of a node agent for a certificate, as an object of the API. */
export async function signingRequest(
  node: string,
  change: { spec?: object; metadata?: object; status?: object; addresses?: string[] } = {},
) {
  const subject = { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
  const names = { dnsNames: [], ipAddresses: change.addresses ?? [] };
  const pem = await createRequest(await generateKeyPem(), subject, names);
  return {
    metadata: { generateName: 'csr-', ...change.metadata },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
      ...change.spec,
    },
    ...(change.status === undefined ? {} : { status: change.status }),
  };
}
