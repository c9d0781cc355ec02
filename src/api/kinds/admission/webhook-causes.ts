import { checkName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import {
  conditionCauses,
  failurePolicies,
  matchPolicyCauses,
  oneOf,
  reinvocationPolicies,
  ruleCauses,
} from './rule-causes.ts';
import type { Webhook, WebhookClientConfig } from './webhook-description.ts';

const knownVersions = ['v1', 'v1beta1'];
const harmless = ['None', 'NoneOnDryRun'];
const maxSeconds = 30;
const maxPort = 65_535;

/** The causes why the webhooks of a configuration are invalid. */
export function webhookCauses(webhooks: readonly Webhook[] = []): Cause[] {
  const earlier = new Set<string>();
  return causesOf(webhooks, (webhook, index) => {
    const path = `webhooks[${index}]`;
    const isAgain = earlier.has(webhook.name);
    earlier.add(webhook.name);
    return [
      ...causesOfOne(webhook, path),
      ...versionCauses(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`),
      ...(isAgain && webhook.name !== '' ? [duplicateValue(`${path}.name`, webhook.name)] : []),
    ];
  });
}

function causesOfOne(webhook: Webhook, path: string): Cause[] {
  const { name, timeoutSeconds: seconds, sideEffects } = webhook;
  return [
    ...nameCauses(name, `${path}.name`),
    ...causesOf(webhook.rules, (rule, index) => ruleCauses(rule, `${path}.rules[${index}]`)),
    ...oneOf(`${path}.failurePolicy`, webhook.failurePolicy, failurePolicies),
    ...matchPolicyCauses(webhook.matchPolicy, path),
    ...(sideEffects === undefined || sideEffects === null
      ? [requiredValue(`${path}.sideEffects`, `must specify one of ${harmless.join(', ')}`)]
      : harmless.includes(sideEffects)
        ? []
        : [unsupportedValue(`${path}.sideEffects`, sideEffects, harmless)]),
    ...(seconds !== undefined && (seconds < 1 || seconds > maxSeconds)
      ? [
          invalidValue(
            `${path}.timeoutSeconds`,
            seconds,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...labelSelectorCauses(webhook.namespaceSelector, `${path}.namespaceSelector`),
    ...labelSelectorCauses(webhook.objectSelector, `${path}.objectSelector`),
    ...oneOf(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, reinvocationPolicies),
    ...clientCauses(webhook.clientConfig ?? {}, `${path}.clientConfig`),
    ...conditionCauses(webhook.matchConditions, `${path}.matchConditions`),
  ];
}

/** A name with at least three parts, `hook.example.com`. */
function nameCauses(name: string, field: string): Cause[] {
  if (name === '') return [requiredValue(field)];
  const wrong = checkName('subdomain', name);
  if (wrong !== undefined) return [invalidValue(field, name, wrong)];
  return name.split('.').length < 3
    ? [invalidValue(field, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function versionCauses(versions: readonly string[], field: string): Cause[] {
  const known = knownVersions.join(', ');
  if (versions.length === 0) return [requiredValue(field, `must specify one of ${known}`)];
  const earlier = new Set<string>();
  const causes = causesOf(versions, (version, index) => {
    const at = `${field}[${index}]`;
    if (earlier.has(version)) return [invalidValue(at, version, 'duplicate version')];
    earlier.add(version);
    return invalidUnless(at, version, checkName('hostLabel', version));
  });
  return versions.some((version) => knownVersions.includes(version))
    ? causes
    : [...causes, invalidValue(field, versions, `must include at least one of ${known}`)];
}

function clientCauses({ url, service }: WebhookClientConfig, path: string): Cause[] {
  if ((url === undefined) === (service === undefined))
    return [requiredValue(path, 'exactly one of url or service is required')];
  if (url !== undefined) return urlCauses(url, `${path}.url`);
  const { name = '', namespace = '', port = 443, path: given } = service ?? {};
  const field = `${path}.service`;
  return [
    ...(name === '' ? [requiredValue(`${field}.name`)] : []),
    ...(namespace === '' ? [requiredValue(`${field}.namespace`)] : []),
    ...(port < 1 || port > maxPort
      ? [
          invalidValue(
            `${field}.port`,
            port,
            `port is not valid: must be between 1 and ${maxPort}, inclusive`,
          ),
        ]
      : []),
    ...(given === undefined || given === '' || given.startsWith('/')
      ? []
      : [invalidValue(`${field}.path`, given, "must start with a '/'")]),
  ];
}

function urlCauses(text: string, field: string): Cause[] {
  const form = '; desired format: https://host[/path]';
  const url = URL.parse(text);
  if (url === null) return [requiredValue(field, `url must be a valid URL: it cannot be parsed${form}`)];
  const not = (what: string) => `${what} not permitted in the URL`;
  return [
    ...(url.protocol === 'https:'
      ? []
      : [invalidValue(field, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`)]),
    ...(url.host === '' ? [invalidValue(field, '', `host must be specified${form}`)] : []),
    ...(url.username + url.password === ''
      ? []
      : [invalidValue(field, url.username, not('user information is'))]),
    ...(url.hash === '' ? [] : [invalidValue(field, url.hash.slice(1), not('fragments are'))]),
    ...(url.search === '' ? [] : [invalidValue(field, url.search.slice(1), not('query parameters are'))]),
  ];
}
