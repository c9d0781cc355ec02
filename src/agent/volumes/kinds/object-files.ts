import type { ConfigMap, Secret } from '../../../api/index.ts';
import type { Known, ObjectName } from '../../objects/index.ts';
import type { FileContent } from '../atomic/payload.ts';
import type { Collected } from './made-of-files.ts';
import type { VolumeTools } from './types.ts';
import { VolumePendingError } from './types.ts';

/* Files that are values of a ConfigMap or Secret. */

/** Which object, and which of its keys; as in a volume, or in a source of a projected one. */
export interface ObjectSource {
  readonly name: string;
  /** All keys where there are none. */
  readonly items?: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
  readonly optional?: boolean;
}

/** Where nothing says another mode. */
export const usualMode = 0o644;

type Objects = Pick<VolumeTools, 'objects'>;

export function configMapFiles(
  namespace: string,
  source: ObjectSource,
  defaultMode: number | undefined,
  { objects }: Objects,
): Collected {
  const object = resolve<ConfigMap>(objects.configMap(namespace, source.name), 'configmap', source);
  const values = new Map([
    ...Object.entries(object?.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'utf8')] as const),
    ...fromBase64(object?.binaryData),
  ]);
  const fault = 'configmap references non-existent config key';
  const files = pickFiles(values, source, { defaultMode, fault });
  return { files, ...sourceOf('ConfigMap', namespace, source.name, object) };
}

export function secretFiles(
  namespace: string,
  source: ObjectSource,
  defaultMode: number | undefined,
  { objects }: Objects,
): Collected {
  const object = resolve<Secret>(objects.secret(namespace, source.name), 'secret', source);
  const values = new Map(fromBase64(object?.data));
  const files = pickFiles(values, source, { defaultMode, fault: 'references non-existent secret key' });
  return { files, ...sourceOf('Secret', namespace, source.name, object) };
}

/** Undefined for one that may be missing, and is. */
function resolve<T>(known: Known<T>, kind: string, { name, optional }: ObjectSource): T | undefined {
  switch (known.state) {
    case 'present':
      return known.object;
    case 'waiting':
      throw new VolumePendingError(known.message);
    case 'refused':
      throw new Error(known.message);
    case 'absent':
      if (optional === true) return undefined;
      throw new Error(`${kind} ${JSON.stringify(name)} not found`);
  }
}

function pickFiles(
  values: ReadonlyMap<string, Buffer>,
  { items = [], optional }: ObjectSource,
  { defaultMode = usualMode, fault }: { readonly defaultMode: number | undefined; readonly fault: string },
): Map<string, FileContent> {
  if (items.length === 0)
    return new Map([...values].map(([key, bytes]) => [key, { bytes, mode: defaultMode }]));
  const files = new Map<string, FileContent>();
  for (const { key, path, mode = defaultMode } of items) {
    const bytes = values.get(key);
    if (bytes !== undefined) files.set(path, { bytes, mode });
    else if (optional !== true) throw new Error(`${fault}: ${key}`);
  }
  return files;
}

function fromBase64(data: Readonly<Record<string, string>> = {}): (readonly [string, Buffer])[] {
  return Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
}

function sourceOf(
  kind: ObjectName['kind'],
  namespace: string,
  name: string,
  object: ConfigMap | Secret | undefined,
): Pick<Collected, 'sources' | 'objects'> {
  const what = `${kind.toLowerCase()} ${namespace}/${name}`;
  const version = object?.metadata?.resourceVersion ?? '';
  const text = object === undefined ? `${what}, which is not there` : `${what} version ${version}`;
  return { sources: [text], objects: [{ kind, namespace, name }] };
}
