import { ageColumn, countColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import { webhookWithDefaults } from './defaults.ts';
import { webhookCauses } from './webhook-causes.ts';
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  Webhook,
} from './webhook-description.ts';
import { mutatingRoot, validatingRoot } from './webhook-description.ts';

const common = {
  group: 'admissionregistration',
  version: 'v1',
  categories: ['api-extensions'],
  namespaced: false,
  generation: 'fields',
  unconditionalUpdate: false,
  warnings: () => ['nothing in nodeward calls webhooks: what this asks for is not done'],
} as const;

const columns = [
  countColumn<{ webhooks?: readonly Webhook[] }>(
    'Webhooks',
    'How many webhooks.',
    ({ webhooks }) => webhooks?.length,
  ),
  ageColumn,
];

/** Programs that are asked whether a write may be made. Nothing here asks them. */
export const validatingWebhookConfigurationKind = defineKind<ValidatingWebhookConfiguration>({
  ...common,
  kind: 'ValidatingWebhookConfiguration',
  doc: 'Programs that are to be asked whether a request may be carried out.',
  resource: 'validatingwebhookconfigurations',
  singular: 'validatingwebhookconfiguration',
  root: validatingRoot,
  default: ({ webhooks, ...others }) =>
    webhooks === undefined ? others : { ...others, webhooks: webhooks.map(webhookWithDefaults) },
  validate: ({ webhooks }) => webhookCauses(webhooks),
  columns,
});

/** Programs that are asked to change what is written. Nothing here asks them. */
export const mutatingWebhookConfigurationKind = defineKind<MutatingWebhookConfiguration>({
  ...common,
  kind: 'MutatingWebhookConfiguration',
  doc: 'Programs that are to be asked to change what is written.',
  resource: 'mutatingwebhookconfigurations',
  singular: 'mutatingwebhookconfiguration',
  root: mutatingRoot,
  default: ({ webhooks, ...others }) =>
    webhooks === undefined
      ? others
      : {
          ...others,
          webhooks: webhooks.map((webhook) => ({
            ...webhookWithDefaults(webhook),
            reinvocationPolicy: webhook.reinvocationPolicy ?? 'Never',
          })),
        },
  validate: ({ webhooks }) => webhookCauses(webhooks),
  columns,
});
