import type { MatchResources, NamedRuleWithOperations } from './description.ts';
import type { ParamRef } from './policy-description.ts';
import type { Webhook } from './webhook-description.ts';

const servicePort = 443;
const timeoutSeconds = 10;

function withScope<R extends { scope?: string }>(rule: R): R {
  return { ...rule, scope: rule.scope ?? '*' };
}

/** A webhook with what its writer has left out; those that change objects have a policy for being asked again. */
export function webhookWithDefaults<W extends Webhook>(webhook: W): W {
  const { clientConfig, rules } = webhook;
  const { service } = clientConfig ?? {};
  return {
    ...webhook,
    ...(service === undefined
      ? {}
      : { clientConfig: { ...clientConfig, service: { ...service, port: service.port ?? servicePort } } }),
    ...(rules === undefined ? {} : { rules: rules.map(withScope) }),
    failurePolicy: webhook.failurePolicy ?? 'Fail',
    matchPolicy: webhook.matchPolicy ?? 'Equivalent',
    namespaceSelector: webhook.namespaceSelector ?? {},
    objectSelector: webhook.objectSelector ?? {},
    timeoutSeconds: webhook.timeoutSeconds ?? timeoutSeconds,
  };
}

function namedRules(rules: NamedRuleWithOperations[] | undefined): NamedRuleWithOperations[] | undefined {
  return rules?.map(withScope);
}

/** What a policy is about, with what its writer has left out. */
export function matchWithDefaults(match: MatchResources): MatchResources {
  const [resourceRules, excludeResourceRules] = [
    namedRules(match.resourceRules),
    namedRules(match.excludeResourceRules),
  ];
  return {
    ...match,
    matchPolicy: match.matchPolicy ?? 'Equivalent',
    namespaceSelector: match.namespaceSelector ?? {},
    objectSelector: match.objectSelector ?? {},
    ...(resourceRules === undefined ? {} : { resourceRules }),
    ...(excludeResourceRules === undefined ? {} : { excludeResourceRules }),
  };
}

/** A spec of a policy with what its writer has left out. */
export function policyWithDefaults<S extends { failurePolicy?: string; matchConstraints?: MatchResources }>(
  spec: S,
): S {
  const { matchConstraints } = spec;
  return {
    ...spec,
    failurePolicy: spec.failurePolicy ?? 'Fail',
    ...(matchConstraints === undefined ? {} : { matchConstraints: matchWithDefaults(matchConstraints) }),
  };
}

/** A spec of a binding with what its writer has left out. */
export function bindingWithDefaults<S extends { matchResources?: MatchResources; paramRef?: ParamRef }>(
  spec: S,
): S {
  const { matchResources } = spec;
  return matchResources === undefined ? spec : { ...spec, matchResources: matchWithDefaults(matchResources) };
}
