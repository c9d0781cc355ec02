import type { Infer } from '../../api/schema/index.ts';
import { bool, duration, field, int32, map, required, string, struct } from '../../api/schema/index.ts';

export const configApiVersion = 'kubelet.config.k8s.io/v1beta1';
export const configKind = 'KubeletConfiguration';

/**
 * The agent's configuration (specification 2.6), `KubeletConfiguration` of `kubelet.config.k8s.io/v1beta1`: the
 * fields this agent acts on. It has no protobuf form, so the numbers only count the fields.
 */
export const kubeletConfiguration = struct('KubeletConfiguration', {
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
});

export type KubeletConfiguration = Infer<typeof kubeletConfiguration>;
/** The fields that a file may leave out. */
export type ConfigField = Exclude<keyof KubeletConfiguration, 'apiVersion' | 'kind'>;
