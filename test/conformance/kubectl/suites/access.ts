import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';
import { canISuite } from './auth-can-i.ts';
import { impersonationSuite } from './auth-impersonation.ts';
import { reconcileSuite } from './auth-reconcile.ts';
import { tokenSuite } from './auth-token.ts';
import { whoAmISuite } from './auth-whoami.ts';
import { certificatesSuite } from './certificates.ts';

/** Who somebody is, what they may do, and how they come to it. */
export function accessSuite(open: OpenShell, release: Release): void {
  canISuite(open, release);
  whoAmISuite(open, release);
  reconcileSuite(open);
  tokenSuite(open, release);
  impersonationSuite(open, release);
  certificatesSuite(open, release);
}
