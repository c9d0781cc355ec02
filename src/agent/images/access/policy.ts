/** Which images on the node a pod may use only with credentials that opened them once. */
export const verificationPolicies = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
] as const;

export interface AccessSettings {
  /**
   * `NeverVerify`: none. `NeverVerifyPreloadedImages`: those that this agent has pulled. `NeverVerifyAllowlistedImages`: all
   * but those of the list that came by other means. `AlwaysVerify`: all.
   */
  readonly policy: (typeof verificationPolicies)[number];
  /** Repositories such as `registry.example/team/app`, or `registry.example/team/*` for all below. */
  readonly allowlist: readonly string[];
}

/** Whether credentials are to be checked for an image of that repository. */
export function needsVerification(
  { policy, allowlist }: AccessSettings,
  repository: string,
  isPulledByAgent: boolean,
): boolean {
  if (policy === 'NeverVerify') return false;
  if (policy === 'AlwaysVerify' || isPulledByAgent) return true;
  return policy === 'NeverVerifyAllowlistedImages' && !allowlist.some((each) => isAllowed(each, repository));
}

function isAllowed(pattern: string, repository: string): boolean {
  return pattern.endsWith('/*') ? repository.startsWith(pattern.slice(0, -1)) : repository === pattern;
}
