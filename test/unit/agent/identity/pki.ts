import type { CertificateUse, Pair } from '../../../../src/base/x509/index.ts';
import {
  alternativeNames,
  createAuthority,
  issueForRequest,
  issuePair,
  readRequest,
} from '../../../../src/base/x509/index.ts';

export const dayMs = 24 * 3600_000;

/** A cluster's authority, and what it signs without asking. */
export interface TestAuthority {
  readonly authority: Pair;
  readonly ca: string;
  /** A certificate with its key. */
  issue(
    commonName: string,
    organizations: readonly string[],
    use: CertificateUse,
    more?: More,
  ): Promise<Pair>;
  /** Signs whatever a request asks for. */
  sign(csrPem: string, use: CertificateUse, more?: More): Promise<string>;
}

export interface More {
  names?: readonly string[];
  lifetimeMs?: number;
  now?: number;
}

export async function createTestAuthority(name = 'test-ca', now = Date.now()): Promise<TestAuthority> {
  // a year old: nothing that it signs is older than itself
  const authority = await createAuthority(name, 3650 * dayMs, now - 365 * dayMs);
  const issueOf = (more: More) => ({ lifetimeMs: more.lifetimeMs ?? 30 * dayMs, now: more.now ?? now });
  return {
    authority,
    ca: authority.cert,
    issue: (commonName, organizations, use, more = {}) =>
      issuePair(authority, {
        subject: { commonName, organizations },
        names: alternativeNames(more.names ?? []),
        use,
        ...issueOf(more),
      }),
    async sign(csrPem, use, more = {}) {
      const request = await readRequest(csrPem);
      const { subject, names } = request;
      return await issueForRequest(authority, request, { subject, names, use, ...issueOf(more) });
    },
  };
}
