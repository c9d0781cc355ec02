import type { Taint } from '../../api/index.ts';
import { checkLabelValue, checkQualifiedName } from '../../api/index.ts';
import { field, required, string, struct, time } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { Field, FieldDescription, Fields } from './field.ts';
import {
  bool,
  duration,
  integer,
  ipAddress,
  list,
  maxSocketPathBytes,
  maxTimer,
  quote,
  recordOf,
  text,
  textOf,
  value,
} from './field-types.ts';
import type { LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import type { Problem } from './problems.ts';

/** The socket of another service; a path without a scheme is taken, as by older releases of the reference. */
function socket(description: FieldDescription): Field<string, undefined> {
  return value(string, (plain) => textOf(plain).replace(/^\//, 'unix:///'), {
    range: '`unix:///path`',
    check: checkSocket,
    warning: (plain) =>
      textOf(plain).startsWith('/')
        ? `a path without a scheme is deprecated; write unix://${textOf(plain)}`
        : undefined,
    ...description,
  });
}

function checkSocket(plain: unknown): string | undefined {
  const endpoint = String(plain);
  if (endpoint === '') return undefined;
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  if (!/^\/[^/\0]/.test(path)) return `${quote(plain)} is not supported; use unix:///absolute/path`;
  const bytes = Buffer.byteLength(path);
  return bytes <= maxSocketPathBytes
    ? undefined
    : `the path of a socket has at most ${maxSocketPathBytes} bytes, this one has ${bytes}`;
}

const taint = struct('Taint', {
  key: required(1, string, 'Key of the taint.'),
  value: field(2, string, 'Value of the taint.'),
  effect: required(3, string, 'NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: field(4, time, 'When a NoExecute taint was added.'),
});
const maxTimerSeconds = durationMs(maxTimer) / 1000;

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The node, its runtime and its status: in the effective configuration each by its own name. */
export const nodeFields = {
  address: text({
    ...ipAddress,
    doc: 'The IP address on which the agent serves HTTPS: health, metrics, configuration, checkpoints.',
    default: '0.0.0.0',
    flag: true,
    needsRestart: true,
  }),
  port: integer(0, 65_535, {
    doc: 'The port of that server. With `--port 0` it is any free one.',
    default: 10_250,
    flag: true,
    needsRestart: true,
  }),
  containerRuntimeEndpoint: socket({
    doc: 'The socket of the container runtime. Empty: the first that exists of `unix:///run/containerd/containerd.sock`, `unix:///run/crio/crio.sock` and `unix:///var/run/cri-dockerd.sock`.',
    default: '',
    flag: true,
    needsRestart: true,
  }),
  imageServiceEndpoint: socket({
    doc: 'The socket of the service of images. Empty: that of the runtime.',
    default: '',
    needsRestart: true,
  }),
  runtimeRequestTimeout: duration('runtimeRequestTimeoutMs', ['1ms', maxTimer], {
    doc: 'How long a request to the runtime may take. Checkpoints have their own time: cutting one short harms the workload.',
    default: '2m',
    needsRestart: true,
  }),
  nodeStatusUpdateFrequency: duration('nodeStatusUpdateFrequencyMs', ['100ms', maxTimer], {
    doc: 'How often the status of the node is computed. It is sent when something has changed.',
    default: '10s',
  }),
  nodeStatusReportFrequency: duration('nodeStatusReportFrequencyMs', ['100ms', maxTimer], {
    doc: 'How often the status is sent when nothing changes.',
    default: '5m',
    follows: 'nodeStatusUpdateFrequency',
  }),
  nodeLeaseDurationSeconds: integer(1, maxTimerSeconds, {
    doc: 'How long the lease of the node is good for. It is renewed four times as often; the control plane counts a node as lost when no renewal has come for its `--node-monitor-grace-period`.',
    default: 40,
    needsRestart: true,
  }),
  maxPods: integer(0, 1_000_000, {
    doc: 'How many pods may run on this node: `pods` in its capacity.',
    default: 110,
  }),
  nodeStatusMaxImages: integer(-1, 1_000_000, {
    doc: 'How many images the status lists, the largest first. -1: all of them, 0: none.',
    default: 50,
    keepsZero: true,
  }),
  seccompDefault: bool({
    doc: 'Whether a container whose pod says nothing of seccomp gets the profile of the runtime, `RuntimeDefault`, and not none ([seccomp.md](seccomp.md)).',
    default: false,
    flag: true,
  }),
  registerNode: bool({
    doc: 'Whether the agent creates its Node when the control plane has none. Without it the agent waits until another has created it.',
    default: true,
  }),
  registerWithTaints: list(taint, readTaints, {
    doc: 'The taints of a Node that the agent creates; one that exists keeps what it has.',
    range: '`key`, `value` and `effect` of each',
    example: '[{key: example.com/gpu, value: "true", effect: NoSchedule}]',
  }),
  providerID: text({
    doc: 'The providerID of a Node that the agent creates; one that exists keeps what it has.',
    range: 'at most 512 characters',
    check: (plain) => (String(plain).length <= 512 ? undefined : 'must have at most 512 characters'),
  }),
} as const satisfies Fields;

function readTaints(items: readonly unknown[]): readonly Taint[] {
  return items.map(recordOf).map(({ key, value, effect }) => ({
    key: textOf(key),
    ...(textOf(value) === '' ? {} : { value: textOf(value) }),
    effect: textOf(effect),
  }));
}

export function checkTaints(merged: LocatedMap): Problem[] {
  const taints = merged.entries.get('registerWithTaints')?.value;
  const before = new Set<string>();
  return (taints?.type === 'list' ? taints.items : []).flatMap((item, index): Problem[] => {
    const [{ key, value = '', effect } = { key: '', effect: '' }] = readTaints([toPlain(item)]);
    const path = `registerWithTaints[${index}]`;
    const identity = `${effect} ${key}`;
    const isRepeated = before.has(identity);
    before.add(identity);
    const complaints: readonly (readonly [string, string | undefined])[] = [
      [`${path}.key`, checkQualifiedName(key)],
      [`${path}.value`, checkLabelValue(value)],
      [
        `${path}.effect`,
        taintEffects.includes(effect) ? undefined : `must be one of ${taintEffects.join(', ')}`,
      ],
      [path, isRepeated ? 'has the key and the effect of one before' : undefined],
    ];
    return complaints.flatMap(([where, message]) =>
      message === undefined ? [] : [{ at: item.at, path: where, message }],
    );
  });
}
