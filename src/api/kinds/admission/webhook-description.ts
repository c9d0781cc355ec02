import type { Infer, StructType } from '../../schema/index.ts';
import { bytes, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';
import { matchConditions, ruleWithOperations } from './description.ts';

const serviceReference = struct('ServiceReference', {
  namespace: required(1, string, 'Namespace of the Service.'),
  name: required(2, string, 'Name of the Service.'),
  path: field(3, string, 'Path of the URL.', pointer),
  port: field(4, int32, 'Port of the Service; 443 when absent.', pointer),
});

const webhookClientConfig = struct('WebhookClientConfig', {
  url: field(3, string, 'Where it is, as a URL.', pointer),
  service: field(1, serviceReference, 'Where it is, as a Service.'),
  caBundle: field(2, bytes, 'PEM of the authorities that sign its certificate.'),
});

export interface WebhookClientConfig extends Infer<typeof webhookClientConfig> {}

/** The fields that webhooks of both sorts have with the same numbers. */
const shared = {
  name: required(1, string, 'Name of the webhook, fully qualified.'),
  clientConfig: required(2, webhookClientConfig, 'How it is called.'),
  rules: field(3, list(ruleWithOperations), 'Which requests it is asked about.'),
  failurePolicy: field(4, string, 'Ignore or Fail: what an error of the call means.', pointer),
  matchPolicy: field(9, string, 'Exact or Equivalent: whether other versions of a kind count.', pointer),
  namespaceSelector: field(5, labelSelector, 'Labels of the namespaces of the objects.'),
  sideEffects: required(6, string, 'None or NoneOnDryRun.', pointer),
  timeoutSeconds: field(7, int32, 'Seconds until a call counts as failed; 10 when absent.', pointer),
  admissionReviewVersions: required(
    8,
    list(string),
    'Versions of AdmissionReview that it knows, the best first.',
  ),
} as const;

const objectSelectorDoc = 'Labels of the objects.';
const conditionsDoc = 'Further conditions of a request.';

const validatingWebhook = struct('ValidatingWebhook', {
  ...shared,
  objectSelector: field(10, labelSelector, objectSelectorDoc),
  matchConditions: field(11, matchConditions, conditionsDoc),
});

const mutatingWebhook = struct('MutatingWebhook', {
  ...shared,
  objectSelector: field(11, labelSelector, objectSelectorDoc),
  reinvocationPolicy: field(
    10,
    string,
    'Never or IfNeeded: whether it is asked again after others.',
    pointer,
  ),
  matchConditions: field(12, matchConditions, conditionsDoc),
});

function webhooksOf<S extends StructType>(webhook: S) {
  return { webhooks: field(2, list(webhook, keyed('name')), 'The webhooks.') };
}

export const validatingRoot = objectStruct('ValidatingWebhookConfiguration', webhooksOf(validatingWebhook));
export const mutatingRoot = objectStruct('MutatingWebhookConfiguration', webhooksOf(mutatingWebhook));

export interface ValidatingWebhookConfiguration extends Infer<typeof validatingRoot> {}
export interface MutatingWebhookConfiguration extends Infer<typeof mutatingRoot> {}

/** A webhook of either sort. */
export interface Webhook extends Infer<typeof validatingWebhook> {
  reinvocationPolicy?: string;
}
