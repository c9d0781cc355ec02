/** What is refused of webhooks and policies, in the reference's words, and what is filled in. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  mutatingAdmissionPolicyBindingKind,
  mutatingAdmissionPolicyKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from '../../../../../src/api/kinds/admission/policy.ts';
import {
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
} from '../../../../../src/api/kinds/admission/webhook-configuration.ts';
import { causesOf, received } from '../causes-of.ts';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const webhook = {
  name: 'a.hooks.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [rule],
  clientConfig: { service: { namespace: 'default', name: 'hook' } },
};
const inRule = (change: object) => ({ rules: [{ ...rule, ...change }] });
const atUrl = (url: string) => ({ clientConfig: { url } });
const atService = (change: object) => ({
  clientConfig: { service: { namespace: 'a', name: 'b', ...change } },
});
const form = '; desired format: https://host[/path]';

const webhookCases: readonly [change: object, ...expected: string[]][] = [
  [{}],
  [
    { name: 'hook' },
    'webhooks[0].name: Invalid value: "hook": should be a domain with at least three segments separated by dots',
  ],
  [
    { name: 'hook.example.' },
    /* as a subdomain */ 'webhooks[0].name: Invalid value: "hook.example.": a lowercase RFC 1123 subdomain',
  ],
  [
    { failurePolicy: 'Retry' },
    'webhooks[0].failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"',
  ],
  [
    { matchPolicy: 'Any' },
    'webhooks[0].matchPolicy: Unsupported value: "Any": supported values: "Equivalent", "Exact"',
  ],
  [
    { sideEffects: 'Some' },
    'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
  ],
  [{ sideEffects: undefined }, 'webhooks[0].sideEffects: Required value'],
  [
    { timeoutSeconds: 31 },
    'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
  ],
  [
    { admissionReviewVersions: ['v2'] },
    'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  ],
  [
    { admissionReviewVersions: ['v1', 'v1'] },
    'webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
  ],
  [
    { reinvocationPolicy: 'Always' },
    'webhooks[0].reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"',
  ],
  [
    { clientConfig: {} },
    'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
  ],
  [atUrl('https://hook.example.com/a')],
  [
    atUrl('http://hook.example.com'),
    `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
  ],
  [
    atUrl('https://a:b@hook.example.com?c#d'),
    'webhooks[0].clientConfig.url: Invalid value: "a": user information is not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "d": fragments are not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "c": query parameters are not permitted in the URL',
  ],
  [atService({ name: '' }), 'webhooks[0].clientConfig.service.name: Required value'],
  [
    atService({ port: 70_000 }),
    'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [
    atService({ path: 'check' }),
    `webhooks[0].clientConfig.service.path: Invalid value: "check": must start with a '/'`,
  ],
  [
    inRule({ operations: ['*', 'CREATE'] }),
    `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
  ],
  [
    inRule({ operations: ['READ'] }),
    'webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  ],
  [inRule({ apiGroups: [] }), 'webhooks[0].rules[0].apiGroups: Required value'],
  [
    inRule({ apiVersions: ['*', 'v1'] }),
    `webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
  ],
  [
    inRule({ resources: ['*', 'pods'] }),
    `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
  ],
  [
    inRule({ resources: ['*/*', 'pods'] }),
    `webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`,
  ],
  [
    inRule({ resources: ['pods/*', 'pods/log'] }),
    `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
  ],
  [
    inRule({ scope: 'Everywhere' }),
    'webhooks[0].rules[0].scope: Unsupported value: "Everywhere": supported values: "*", "Cluster", "Namespaced"',
  ],
  [
    { matchConditions: [{ name: 'a', expression: ' ' }] },
    'webhooks[0].matchConditions[0].expression: Required value',
  ],
  [
    {
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
      ],
    },
    'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
  ],
];

const match = { resourceRules: [rule] };
const policy = { matchConstraints: match, validations: [{ expression: 'true' }] };
const mutation = { patchType: 'JSONPatch', jsonPatch: { expression: '[]' } };
const mutating = { matchConstraints: match, reinvocationPolicy: 'Never', mutations: [mutation] };
const binding = { policyName: 'a', validationActions: ['Deny'] };
const both = 'validations or auditAnnotations must contain at least one item';

const policyCases = {
  validating: [
    [{}],
    [
      { validations: [] },
      `spec.validations: Required value: ${both}`,
      `spec.auditAnnotations: Required value: ${both}`,
    ],
    [{ matchConstraints: undefined }, 'spec.matchConstraints: Required value'],
    [{ matchConstraints: {} }, 'spec.matchConstraints.resourceRules: Required value'],
    [
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a'] }] } },
      'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
    ],
    [
      { validations: [{ expression: '' }] },
      'spec.validations[0].expression: Required value: expression is not specified',
    ],
    [
      { validations: [{ expression: 'a', message: 'b\nc' }] },
      'spec.validations[0].message: Invalid value: "b\\nc": message must not contain line breaks',
    ],
    [
      { validations: [{ expression: 'a', reason: 'Odd' }] },
      'spec.validations[0].reason: Unsupported value: "Odd": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"',
    ],
    [
      { variables: [{ name: 'a-b', expression: '1' }] },
      'spec.variables[0].name: Invalid value: "a-b": name is not a valid CEL identifier',
    ],
    [{ paramKind: { apiVersion: 'v1' } }, 'spec.paramKind.kind: Required value'],
    [
      {
        auditAnnotations: [
          { key: 'a', valueExpression: '1' },
          { key: 'a', valueExpression: '1' },
        ],
      },
      'spec.auditAnnotations[1].key: Duplicate value: "a"',
    ],
  ],
  mutating: [
    [{}],
    [{ mutations: [] }, 'spec.mutations: Required value: mutations must contain at least one item'],
    [
      { reinvocationPolicy: 'Maybe' },
      'spec.reinvocationPolicy: Unsupported value: "Maybe": supported values: "IfNeeded", "Never"',
    ],
    [
      { mutations: [{ patchType: 'Merge' }] },
      'spec.mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"',
    ],
    [
      { mutations: [{ patchType: 'ApplyConfiguration' }] },
      'spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
    ],
    [
      { mutations: [{ ...mutation, applyConfiguration: { expression: 'a' } }] },
      'spec.mutations[0].applyConfiguration: Forbidden: must not specify applyConfiguration when patchType is JSONPatch',
    ],
  ],
  validatingBinding: [
    [{}],
    [{ policyName: '' }, 'spec.policyName: Required value'],
    [
      { validationActions: [] },
      'spec.validationActions: Required value: at least one validation action is required',
    ],
    [
      { validationActions: ['Deny', 'Warn'] },
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
    [
      { validationActions: ['Log'] },
      'spec.validationActions[0]: Unsupported value: "Log": supported values: "Audit", "Deny", "Warn"',
    ],
    [
      { paramRef: { parameterNotFoundAction: 'Deny' } },
      'spec.paramRef: Required value: one of name or selector must be specified',
    ],
    [{ paramRef: { name: 'a' } }, 'spec.paramRef.parameterNotFoundAction: Required value'],
    [
      { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } },
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
    ],
  ],
  mutatingBinding: [
    [{}],
    [
      { matchResources: { matchPolicy: 'Any' } },
      'spec.matchResources.matchPolicy: Unsupported value: "Any": supported values: "Equivalent", "Exact"',
    ],
  ],
} satisfies Record<string, readonly [change: object, ...expected: string[]][]>;

/** Of a message that is long the beginning is enough. */
function expectCauses(found: readonly string[], expected: readonly string[]): void {
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [index, text] of expected.entries()) assert.ok(found[index]?.startsWith(text), found[index]);
}

describe('a webhook', () => {
  for (const [change, ...expected] of webhookCases) {
    test(`${JSON.stringify(change)} is ${expected.length === 0 ? 'valid' : 'refused'}`, () => {
      const sent = { webhooks: [{ ...webhook, ...change }] };
      expectCauses(causesOf(mutatingWebhookConfigurationKind, sent), expected);
    });
  }

  test('has a name of its own in its configuration', () => {
    expectCauses(causesOf(validatingWebhookConfigurationKind, { webhooks: [webhook, webhook] }), [
      'webhooks[1].name: Duplicate value: "a.hooks.example.com"',
    ]);
  });

  test('gets what its writer has left out', () => {
    const defaults = {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      rules: [{ ...rule, scope: '*' }],
      clientConfig: { service: { namespace: 'default', name: 'hook', port: 443 } },
    };
    const [validating] = received(validatingWebhookConfigurationKind, { webhooks: [webhook] }).webhooks ?? [];
    assert.deepEqual(validating, { ...webhook, ...defaults });
    const [asked] = received(mutatingWebhookConfigurationKind, { webhooks: [webhook] }).webhooks ?? [];
    assert.deepEqual(asked, { ...webhook, ...defaults, reinvocationPolicy: 'Never' });
  });
});

describe('a policy', () => {
  for (const [change, ...expected] of policyCases.validating)
    test(`that validates: ${JSON.stringify(change)}`, () =>
      expectCauses(causesOf(validatingAdmissionPolicyKind, { spec: { ...policy, ...change } }), expected));
  for (const [change, ...expected] of policyCases.mutating)
    test(`that changes: ${JSON.stringify(change)}`, () =>
      expectCauses(causesOf(mutatingAdmissionPolicyKind, { spec: { ...mutating, ...change } }), expected));
  for (const [change, ...expected] of policyCases.validatingBinding)
    test(`that validates, bound: ${JSON.stringify(change)}`, () =>
      expectCauses(
        causesOf(validatingAdmissionPolicyBindingKind, { spec: { ...binding, ...change } }),
        expected,
      ));
  for (const [change, ...expected] of policyCases.mutatingBinding)
    test(`that changes, bound: ${JSON.stringify(change)}`, () =>
      expectCauses(
        causesOf(mutatingAdmissionPolicyBindingKind, { spec: { policyName: 'a', ...change } }),
        expected,
      ));
});
