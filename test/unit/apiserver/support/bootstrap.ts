/** The Secrets of bootstrap tokens. */
export const bootstrapSecrets = '/api/v1/namespaces/kube-system/secrets';

/** Headers of whoever comes with a token. */
export const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** The Secret of a bootstrap token, as the reference's tools make it; `change` replaces fields. */
export function bootstrapSecret(id: string, secret: string, change: Record<string, string> = {}) {
  return {
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      ...change,
    },
  };
}
