import { isRecord } from '../../../api/index.ts';
import type { ContainerFacts } from './contents.ts';
import type { Documents } from './documents.ts';

/** The names that runtimes and the agents of clusters give: in annotations of the specification, or in labels. */
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

export function containerIn(
  { config, status, spec }: Documents,
  annotations: Readonly<Record<string, string>>,
  machine: number,
): ContainerFacts {
  const labels = isRecord(status['labels']) ? status['labels'] : {};
  const labelled = (keys: readonly string[]) =>
    keys.map((key) => labels[key] ?? annotations[key]).find((value) => typeof value === 'string') ?? '';
  const image = textIn(config, 'rootfsImageName') || textIn(config, 'rootfsImage') || labelled(names.image);
  return {
    id: textIn(config, 'id') || textIn(status, 'id'),
    name: cut(labelled(names.name)) || textIn(config, 'name'),
    pod: cut(labelled(names.pod)),
    namespace: cut(labelled(names.namespace)),
    podUid: cut(labelled(names.podUid)),
    image: cut(image),
    imageRef: textIn(config, 'rootfsImageRef') || textIn(status, 'image_ref'),
    runtime: textIn(config, 'runtime'),
    createdAt: timeIn(config, 'createdTime'),
    checkpointedAt: timeIn(config, 'checkpointedTime'),
    architecture: architectures[machine] ?? textIn(spec, 'architecture'),
  };
}

const cut = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 1024) : '');

const textIn = (from: Record<string, unknown>, name: string): string => cut(from[name]);

/** Times of the year 1 mean that there is none. */
function timeIn(from: Record<string, unknown>, name: string): string {
  const text = textIn(from, name);
  return Number.isNaN(Date.parse(text)) || text.startsWith('0001-') ? '' : text;
}
