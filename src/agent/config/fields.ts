import { isAbsolute } from 'node:path';
import { findForeignGateProblem, resolveGates } from '../../api/index.ts';
import { bool as schemaBool, string as schemaString } from '../../api/schema/index.ts';
import { checkpointSection } from './checkpoint-fields.ts';
import { evictionFields, mergingFields } from './eviction-fields.ts';
import type { Fields } from './field.ts';
import { schemaOf, section } from './field.ts';
import { bool, duration, map, maxSocketPathBytes, path, quote, text } from './field-types.ts';
import { imageFields } from './image-fields.ts';
import { inertFields } from './inert-fields.ts';
import { logFields } from './log-fields.ts';
import { nodeFields } from './node-fields.ts';
import { podFields } from './pod-fields.ts';
import { reservedFields } from './reserved-fields.ts';
import { serverFields } from './server-fields.ts';
import { shutdownFields } from './shutdown-fields.ts';

/*
 * The table of all fields. To add a field is to add its entry to one of the tables below, and to use it where it counts.
 * An entry of `nodeFields` or `featureFields` stands in the effective configuration by its own name; the entries of the
 * other tables stand in groups there (effective.ts).
 */

const defaultSuffix = 'k8s.io';
/** The name of the reference, which is accepted whatever the suffix of the API groups is. */
export const configApiVersion = configApiVersionOf(defaultSuffix);
export const configKind = 'KubeletConfiguration';

/** The name with another suffix of the API groups (specification, section 9). */
export function configApiVersionOf(groupSuffix: string): string {
  return `kubelet.config.${groupSuffix}/v1beta1`;
}

/** Sockets are made below `deviceManager.kubeletDir`, by names that are not longer. */
const maxKubeletDirBytes = maxSocketPathBytes - '/device-plugins/kubelet.sock'.length;

export const deviceManager = section({
  doc: 'Device plugins. The reference has no such section either.',
  keepsZero: true,
  needsRestart: true,
  fields: {
    kubeletPaths: bool({
      doc: 'Whether plugins are also served at the paths of the reference below `kubeletDir`, which many plugins cannot change ([devices.md](devices.md)). systemd needs the drop-in kubelet-paths.conf for it.',
      default: false,
    }),
    kubeletDir: text({
      doc: 'The folder of the reference, below which those paths are.',
      default: '/var/lib/kubelet',
      range: `an absolute path of at most ${maxKubeletDirBytes} bytes`,
      check(plain) {
        if (!isAbsolute(String(plain))) return `${quote(plain)} is no absolute path`;
        return Buffer.byteLength(String(plain)) <= maxKubeletDirBytes
          ? undefined
          : `must have at most ${maxKubeletDirBytes} bytes: sockets are made below it`;
      },
    }),
    gracePeriod: duration('graceMs', ['0s', '24h'], {
      doc: 'How long the devices of a plugin that has left stay in the capacity of the node.',
      default: '5m',
    }),
  },
});

const featureFields = {
  checkpoint: checkpointSection,
  deviceManager,
  featureGates: map(undefined, {
    doc: 'Features to switch on or off. `ContainerCheckpoint` serves POST /checkpoint/NAMESPACE/POD/CONTAINER; `InPlacePodVerticalScaling` resizes pods while they run ([pods.md](pods.md#limits-and-resize)) and keeps a file of what they were given ([resources.md](resources.md)). Those of the control plane are set by the flag only. Those of the reference that have no effect here get a warning.',
    default: {},
    defaultInWords: 'by feature',
    range: 'by name, true or false',
    example: '{ContainerCheckpoint: false}',
    flag: true,
    needsRestart: true,
    of: schemaBool,
    checkKey: (name, plain) => findForeignGateProblem(name, plain !== false),
    readEntries(entries) {
      const stated = Object.entries(entries).filter(isSwitch);
      return resolveGates(Object.fromEntries(stated));
    },
  }),
} as const satisfies Fields;

function isSwitch(entry: [string, unknown]): entry is [string, boolean] {
  return typeof entry[1] === 'boolean';
}

export const staticPodFields = {
  staticPodPath: path({
    doc: 'The folder of manifests of static pods, one pod in each *.yaml, *.yml or *.json ([static-pods.md](static-pods.md)). Changes in it are followed. Empty: there are none.',
    default: '/etc/nodeward/manifests',
    keepsZero: true,
    needsRestart: true,
  }),
  fileCheckFrequency: duration('rescanMs', ['100ms', '24h'], {
    doc: 'How often that folder is read though no change was noticed.',
    default: '20s',
    needsRestart: true,
  }),
} as const satisfies Fields;

/** In the effective configuration each by its own name. */
export const plainFields = { ...nodeFields, ...featureFields } as const;

/** Every field that has an effect, in the order of the documentation. */
export const configFields: Fields = {
  ...nodeFields,
  ...evictionFields,
  ...mergingFields,
  ...reservedFields,
  ...serverFields,
  ...staticPodFields,
  ...podFields,
  ...shutdownFields,
  ...imageFields,
  ...logFields,
  ...featureFields,
};

/**
 * The agent's configuration (specification 2.6), `KubeletConfiguration` of `kubelet.config.k8s.io/v1beta1`: the fields
 * that this agent acts on, and those of the reference that have no effect here.
 */
export const kubeletConfiguration = schemaOf({
  apiVersion: {
    schema: schemaString,
    doc: `Must be ${configApiVersion}, or the same with the value of --group-suffix.`,
  },
  kind: { schema: schemaString, doc: `Must be ${configKind}.` },
  ...configFields,
  ...inertFields,
});
