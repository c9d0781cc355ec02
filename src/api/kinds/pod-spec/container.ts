import { bool, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { envFromSource, envVar } from './env.ts';
import { keyed } from './merge.ts';
import { lifecycle, probe } from './probe.ts';
import { resourceRequirements } from './resources.ts';
import { securityContext } from './security-context.ts';
import { pointer } from './wire.ts';

/* The containers of a pod. */

export const containerPort = struct('ContainerPort', {
  name: field(1, string, 'Name of the port, unique in the pod.'),
  hostPort: field(2, int32, 'Port of the node.'),
  containerPort: required(3, int32, 'Port of the pod.'),
  protocol: field(4, string, 'TCP, UDP or SCTP.', { default: 'TCP' }),
  hostIP: field(5, string, 'Address of the node to bind.'),
});

export const volumeMount = struct('VolumeMount', {
  name: required(1, string, 'Name of the volume.'),
  readOnly: field(2, bool, 'Whether the mount is read-only.'),
  recursiveReadOnly: field(
    7,
    string,
    'Disabled, IfPossible or Enabled: whether mounts below it are read-only too.',
    pointer,
  ),
  mountPath: required(3, string, 'Path in the container.'),
  subPath: field(4, string, 'Path in the volume to mount; its root when absent.'),
  mountPropagation: field(5, string, 'None, HostToContainer or Bidirectional.', pointer),
  subPathExpr: field(6, string, 'Path in the volume, with $(NAME) of environment variables.'),
});

export const volumeDevice = struct('VolumeDevice', {
  name: required(1, string, "Name of a claim's volume."),
  devicePath: required(2, string, 'Path of the device in the container.'),
});

const containerResizePolicy = struct('ContainerResizePolicy', {
  resourceName: required(1, string, 'cpu or memory.'),
  restartPolicy: required(2, string, 'NotRequired or RestartContainer.'),
});

const containerRestartRuleOnExitCodes = struct('ContainerRestartRuleOnExitCodes', {
  operator: required(1, string, 'In or NotIn.'),
  values: field(2, list(int32, { list: 'set' }), 'Exit codes.'),
});

const containerRestartRule = struct('ContainerRestartRule', {
  action: required(1, string, 'Restart.'),
  exitCodes: field(2, containerRestartRuleOnExitCodes, 'Exit codes that the rule is for.'),
});

/** All containers are described alike; on the wire those of ephemeral ones are in a message of their own. */
function containerFields(wire: { within?: number } = {}) {
  return {
    name: required(1, string, 'Name of the container, unique in the pod.', wire),
    image: field(2, string, 'Image to run.', wire),
    command: field(3, list(string), 'Command; that of the image when absent.', wire),
    args: field(4, list(string), 'Arguments; those of the image when absent.', wire),
    workingDir: field(5, string, 'Working folder.', wire),
    ports: field(
      6,
      list(containerPort, keyed('containerPort', 'protocol')),
      'Ports that the container listens on.',
      wire,
    ),
    envFrom: field(19, list(envFromSource), 'Sources that environment variables are taken from.', wire),
    env: field(7, list(envVar, keyed('name')), 'Environment variables.', wire),
    resources: field(8, resourceRequirements, 'What the container needs and may use.', {
      ...wire,
      default: {},
    }),
    resizePolicy: field(
      23,
      list(containerResizePolicy),
      'Whether a resize of a resource restarts the container.',
      wire,
    ),
    restartPolicy: field(
      24,
      string,
      'When the container is restarted; Always makes an init container a sidecar.',
      { ...wire, pointer: true },
    ),
    restartPolicyRules: field(
      25,
      list(containerRestartRule),
      'Rules on exit codes that go before restartPolicy.',
      wire,
    ),
    volumeMounts: field(9, list(volumeMount, keyed('mountPath')), 'Volumes to mount.', wire),
    volumeDevices: field(21, list(volumeDevice, keyed('devicePath')), 'Block devices to have.', wire),
    livenessProbe: field(10, probe, 'Stops the container when it fails.', wire),
    readinessProbe: field(11, probe, 'Takes the container out of service while it fails.', wire),
    startupProbe: field(22, probe, 'Keeps the other probes back until it succeeds.', wire),
    lifecycle: field(12, lifecycle, 'What is done at its start and its end.', wire),
    terminationMessagePath: field(13, string, 'File with the message about its end.', wire),
    terminationMessagePolicy: field(20, string, 'File or FallbackToLogsOnError.', wire),
    imagePullPolicy: field(14, string, 'Always, Never or IfNotPresent.', wire),
    securityContext: field(15, securityContext, 'Rights of the container.', wire),
    stdin: field(16, bool, 'Whether it has a standard input.', wire),
    stdinOnce: field(17, bool, 'Whether standard input is closed after the first client.', wire),
    tty: field(18, bool, 'Whether it has a terminal.', wire),
  };
}

export const container = struct('Container', containerFields());

export const ephemeralContainer = struct('EphemeralContainer', {
  ...containerFields({ within: 1 }),
  targetContainerName: field(2, string, 'Container whose processes it sees.'),
});
