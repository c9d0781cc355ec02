import type { ClusterTrustBundle, ObjectSelector } from '../../api/index.ts';
import { selectsLabels } from '../../api/index.ts';
import { formatPem, readPemBlocks } from '../../base/x509/index.ts';

/** One bundle by its name, or those of a signer with such labels: all of them where the selector is empty, none without one. */
export type BundleChoice =
  | { readonly name: string }
  | { readonly signerName: string; readonly labelSelector?: ObjectSelector | undefined };

/** What is kept of a ClusterTrustBundle. */
export interface TrustBundle {
  readonly name: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Each certificate once: DER in base64. */
  readonly certificates: readonly string[];
  /** Of the text that they came in. */
  readonly sizeBytes: number;
}

/** The certificates of the chosen bundles together. */
export interface TrustAnchors {
  /** Names and versions of the bundles, by name. */
  readonly bundles: readonly Pick<TrustBundle, 'name' | 'version'>[];
  readonly count: number;
  /** Each certificate once, in an order that only they decide, so that the same ones make the same file. */
  readonly pem: Buffer;
}

/** As in the reference, what cannot be read is left out: the API refuses it, and another server may have stored it. */
export function toTrustBundle({ metadata = {}, spec }: ClusterTrustBundle): TrustBundle {
  const { name = '', resourceVersion = '', labels = {} } = metadata;
  const { trustBundle: text = '' } = spec ?? {};
  const blocks = readPemBlocks(text).filter(({ type }) => type === 'CERTIFICATE');
  const certificates = [...new Set(blocks.map(({ bytes }) => bytes.toString('base64')))];
  return { name, labels, version: resourceVersion, certificates, sizeBytes: Buffer.byteLength(text) };
}

export function mergeBundles(all: Iterable<TrustBundle>, choice: BundleChoice): TrustAnchors {
  const chosen = [...all]
    .filter(({ labels }) => isChosen(labels, choice))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const certificates = [...new Set(chosen.flatMap((bundle) => bundle.certificates))].sort();
  const texts = certificates.map((each) => formatPem('CERTIFICATE', Buffer.from(each, 'base64')));
  return {
    bundles: chosen.map(({ name, version }) => ({ name, version })),
    count: certificates.length,
    pem: Buffer.from(texts.join(''), 'latin1'),
  };
}

function isChosen(labels: TrustBundle['labels'], choice: BundleChoice): boolean {
  if ('name' in choice) return true;
  return choice.labelSelector !== undefined && selectsLabels(choice.labelSelector, labels);
}
