import type { Infer } from '../../api/schema/index.ts';
import {
  bool,
  duration,
  field,
  int32,
  list,
  map,
  required,
  string,
  struct,
  time,
} from '../../api/schema/index.ts';
import { inertFieldTypes } from './inert.ts';

export const configApiVersion = 'kubelet.config.k8s.io/v1beta1';
export const configKind = 'KubeletConfiguration';

const taint = struct('Taint', {
  key: required(1, string, 'Key of the taint.'),
  value: field(2, string, 'Value of the taint.'),
  effect: required(3, string, 'NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: field(4, time, 'When a NoExecute taint was added.'),
});

const authentication = struct('KubeletAuthentication', {
  x509: field(
    1,
    struct('KubeletX509Authentication', {
      clientCAFile: field(1, string, 'PEM of the authorities whose client certificates are accepted.'),
    }),
    'Client certificates.',
  ),
  webhook: field(
    2,
    struct('KubeletWebhookAuthentication', {
      enabled: field(1, bool, 'Whether bearer tokens are reviewed by the API.'),
      cacheTTL: field(2, duration, 'How long such a review is remembered.'),
    }),
    'Bearer tokens.',
  ),
  anonymous: field(
    3,
    struct('KubeletAnonymousAuthentication', {
      enabled: field(1, bool, 'Whether nobody in particular may call.'),
    }),
    'Callers without credentials.',
  ),
});

const authorization = struct('KubeletAuthorization', {
  mode: field(1, string, 'AlwaysAllow or Webhook.'),
  webhook: field(
    2,
    struct('KubeletWebhookAuthorization', {
      cacheAuthorizedTTL: field(1, duration, 'How long a yes is remembered.'),
      cacheUnauthorizedTTL: field(2, duration, 'How long a no is remembered.'),
    }),
    'Access reviews.',
  ),
});

const actingFields = {
  apiVersion: required(1, string, `Must be ${configApiVersion}.`),
  kind: required(2, string, `Must be ${configKind}.`),
  address: field(3, string, 'The IP address to serve on.'),
  port: field(4, int32, 'The port to serve on.'),
  containerRuntimeEndpoint: field(5, string, 'Where the container runtime listens, as unix:///path.'),
  runtimeRequestTimeout: field(
    6,
    duration,
    'How long a request to the runtime may take, checkpoints excepted.',
  ),
  nodeStatusUpdateFrequency: field(7, duration, 'How often the status of the node is computed.'),
  nodeStatusReportFrequency: field(8, duration, 'How often it is sent when it has not changed.'),
  nodeLeaseDurationSeconds: field(
    9,
    int32,
    'How long a lease is good for; it is renewed four times as often.',
  ),
  maxPods: field(10, int32, 'How many pods may run on this node.'),
  featureGates: field(11, map(bool), 'Features to switch on or off, by name.'),
  registerNode: field(12, bool, 'Whether the agent makes its Node when there is none.'),
  registerWithTaints: field(13, list(taint), 'Taints of a Node that the agent makes.'),
  providerID: field(14, string, 'The providerID of a Node that the agent makes.'),
  evictionHard: field(15, map(string), 'What must stay free, by signal, as an amount or a percentage.'),
  mergeDefaultEvictionSettings: field(16, bool, 'Whether signals not stated keep their default.'),
  systemReserved: field(17, map(string), 'What is kept from pods for the system.'),
  kubeReserved: field(18, map(string), 'What is kept from pods for node agents.'),
  authentication: field(19, authentication, 'Who may call the agent.'),
  authorization: field(20, authorization, 'What a caller may do.'),
  tlsCertFile: field(21, string, 'PEM of the certificate to serve with, intermediates behind it.'),
  tlsPrivateKeyFile: field(22, string, 'PEM of its key.'),
} as const;

/**
 * The agent's configuration (specification 2.6), `KubeletConfiguration` of `kubelet.config.k8s.io/v1beta1`: the fields
 * this agent acts on, and those of the reference that it knows and does not act on (inert.ts). It has no protobuf form,
 * so the numbers only count the fields.
 */
export const kubeletConfiguration = struct('KubeletConfiguration', {
  ...Object.fromEntries(
    Object.entries(inertFieldTypes).map(([name, type], index) => [name, field(100 + index, type, name)]),
  ),
  ...actingFields,
});

/** The fields that this agent acts on, at least on a part of. */
export const actingNames: readonly string[] = Object.keys(actingFields);

export type KubeletConfiguration = Infer<ReturnType<typeof struct<typeof actingFields>>>;
/** The fields that a file may leave out. */
export type ConfigField = Exclude<keyof KubeletConfiguration, 'apiVersion' | 'kind'>;
