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
import { checkpointSection } from './checkpoint-section.ts';
import { deviceManagerSection } from './device-manager-section.ts';
import { inertFieldTypes } from './inert.ts';
import { serverFields } from './server-section.ts';
import { staticPodFields } from './static-pods-section.ts';

export const configApiVersion = 'kubelet.config.k8s.io/v1beta1';
export const configKind = 'KubeletConfiguration';

const taint = struct('Taint', {
  key: required(1, string, 'Key of the taint.'),
  value: field(2, string, 'Value of the taint.'),
  effect: required(3, string, 'NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: field(4, time, 'When a NoExecute taint was added.'),
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
  evictionSoft: field(24, map(string), 'What should stay free, by signal; it counts after its grace period.'),
  evictionSoftGracePeriod: field(25, map(string), 'For how long, by signal.'),
  evictionMinimumReclaim: field(
    26,
    map(string),
    'What must be free beyond a threshold that was met, by signal.',
  ),
  evictionPressureTransitionPeriod: field(27, duration, 'How long a pressure stays after its last sign.'),
  nodeStatusMaxImages: field(28, int32, 'How many images the status lists; -1 all.'),
  imageServiceEndpoint: field(29, string, 'Where the service of images listens, as unix:///path.'),
  ...serverFields,
  ...staticPodFields,
  seccompDefault: field(
    70,
    bool,
    'Whether containers of which nothing is said get the seccomp profile of the runtime.',
  ),
  tlsCertFile: field(21, string, 'PEM of the certificate to serve with, intermediates behind it.'),
  tlsPrivateKeyFile: field(22, string, 'PEM of its key.'),
  checkpoint: field(23, checkpointSection, 'Checkpoints of containers; not a field of the reference.'),
  deviceManager: field(50, deviceManagerSection, 'Device plugins; not a field of the reference.'),
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
