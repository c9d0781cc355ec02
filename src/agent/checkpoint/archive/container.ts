import { isRecord } from '../../../api/index.ts';
import type { ContainerFacts } from './contents.ts';
import type { ArchiveMetadata } from './metadata.ts';

/** The annotations or labels in which runtimes and cluster agents keep these values, in order of preference. */
const names = {
  name: ['io.kubernetes.container.name', 'io.kubernetes.cri.container-name'],
  pod: ['io.kubernetes.pod.name', 'io.kubernetes.cri.sandbox-name'],
  namespace: ['io.kubernetes.pod.namespace', 'io.kubernetes.cri.sandbox-namespace'],
  podUid: ['io.kubernetes.pod.uid', 'io.kubernetes.cri.sandbox-uid'],
  image: ['io.kubernetes.cri.image-name', 'io.kubernetes.cri-o.ImageName'],
} as const;

const architectures: Readonly<Record<number, string>> = {
  1: 'amd64',
  2: 'arm',
  3: 'arm64',
  4: 'ppc64le',
  5: 's390x',
  7: 'loong64',
  8: 'riscv64',
};

export function readContainerFacts(
  { config, status, spec }: ArchiveMetadata,
  annotations: Readonly<Record<string, string>>,
  machine: number,
): ContainerFacts {
  const labels = isRecord(status['labels']) ? status['labels'] : {};
  const labelled = (keys: readonly string[]) =>
    keys.map((key) => labels[key] ?? annotations[key]).find((value) => typeof value === 'string') ?? '';
  const image =
    readText(config, 'rootfsImageName') || readText(config, 'rootfsImage') || labelled(names.image);
  return {
    id: readText(config, 'id') || readText(status, 'id'),
    name: toShortText(labelled(names.name)) || readText(config, 'name'),
    pod: toShortText(labelled(names.pod)),
    namespace: toShortText(labelled(names.namespace)),
    podUid: toShortText(labelled(names.podUid)),
    image: toShortText(image),
    imageRef: readText(config, 'rootfsImageRef') || readText(status, 'image_ref'),
    runtime: readText(config, 'runtime'),
    createdAt: readTime(config, 'createdTime'),
    checkpointedAt: readTime(config, 'checkpointedTime'),
    architecture: architectures[machine] ?? readText(spec, 'architecture'),
  };
}

const toShortText = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 1024) : '');

const readText = (from: Record<string, unknown>, name: string): string => toShortText(from[name]);

/** Empty where there is no time; runtimes write a time of the year 1 then. */
function readTime(from: Record<string, unknown>, name: string): string {
  const text = readText(from, name);
  return Number.isNaN(Date.parse(text)) || text.startsWith('0001-') ? '' : text;
}
