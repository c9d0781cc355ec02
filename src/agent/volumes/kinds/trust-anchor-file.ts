import type { BundleChoice, TrustAnchors } from '../../objects/index.ts';
import type { FileContent } from '../atomic/payload.ts';
import type { Collected } from './made-of-files.ts';
import type { Volume, VolumeTools } from './types.ts';
import { VolumePendingError } from './types.ts';

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type BundleSource = NonNullable<Source['clusterTrustBundle']>;

/** One file with the certificates of the bundles that are chosen; `access` is that of the file. */
export function trustAnchorFile(
  source: BundleSource,
  access: Omit<FileContent, 'bytes'>,
  { objects }: Pick<VolumeTools, 'objects'>,
): Collected {
  const choice = choiceOf(source);
  const name = 'name' in choice ? choice.name : choice.signerName;
  const anchors = resolve(source, choice, objects);
  const bytes = anchors?.pem ?? Buffer.alloc(0);
  return {
    files: new Map([[source.path, { ...access, bytes }]]),
    sources: [describe(name, anchors)],
    objects: [{ kind: 'ClusterTrustBundle', namespace: '', name }],
  };
}

function choiceOf({ name, signerName = '', labelSelector }: BundleSource): BundleChoice {
  return name === undefined ? { signerName, labelSelector } : { name };
}

/** Undefined where it may be missing, and is. Otherwise throws what is missing, in the words of the reference. */
function resolve(
  { optional }: BundleSource,
  choice: BundleChoice,
  objects: VolumeTools['objects'],
): TrustAnchors | undefined {
  const known = objects.trustAnchors(choice);
  if (known.state === 'waiting') throw new VolumePendingError(known.message);
  if (known.state === 'refused') throw new Error(known.message);
  if (known.state === 'present' && known.object.bundles.length > 0) return known.object;
  if (optional === true) return undefined;
  if (known.state === 'absent')
    throw new Error(
      'the API serves no ClusterTrustBundles (certificates.k8s.io/v1beta1), which the volume needs',
    );
  if ('name' in choice) {
    const what = `clustertrustbundle.certificates.k8s.io ${JSON.stringify(choice.name)}`;
    throw new Error(`while getting ClusterTrustBundle: ${what} not found`);
  }
  throw new Error('combination of signerName and labelSelector matched zero ClusterTrustBundles');
}

/** How many bundles of a signer are listed one by one. */
const maxListed = 3;

function describe(name: string, anchors: TrustAnchors | undefined): string {
  if (anchors === undefined) return `no trust bundle ${name}`;
  const { bundles, count } = anchors;
  const certificates = `with ${count} ${count === 1 ? 'certificate' : 'certificates'}`;
  if (bundles.length <= maxListed) {
    const listed = bundles.map((bundle) => `${bundle.name} version ${bundle.version}`);
    return `trust bundle ${listed.join(', ')} ${certificates}`;
  }
  const newest = Math.max(...bundles.map(({ version }) => Number(version) || 0));
  return `${bundles.length} trust bundles of ${name}, the newest version ${newest}, ${certificates}`;
}
