import { bool, field, int32, int64, list, map, required, string, struct } from '../../schema/index.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { downwardAPIVolumeFile } from './downward.ts';
import { pointer } from './wire.ts';

/* The sources of a projected volume. */

export const keyToPath = struct('KeyToPath', {
  key: required(1, string, 'The key.'),
  path: required(2, string, 'Relative path of the file.'),
  mode: field(3, int32, 'Permission bits of this file.', pointer),
});

const secretProjection = struct('SecretProjection', {
  name: field(1, string, 'Name of the Secret.', { within: 1 }),
  items: field(2, list(keyToPath), 'Which keys become files, and where; all of them when absent.'),
  optional: field(4, bool, 'Whether the Secret or its keys may be missing.', pointer),
});

const configMapProjection = struct('ConfigMapProjection', {
  name: field(1, string, 'Name of the ConfigMap.', { within: 1 }),
  items: field(2, list(keyToPath), 'Which keys become files, and where; all of them when absent.'),
  optional: field(4, bool, 'Whether the ConfigMap or its keys may be missing.', pointer),
});

const downwardAPIProjection = struct('DownwardAPIProjection', {
  items: field(1, list(downwardAPIVolumeFile), 'Files with facts about the pod.'),
});

const serviceAccountTokenProjection = struct('ServiceAccountTokenProjection', {
  audience: field(1, string, 'Whom the token is for; the API server when absent.'),
  expirationSeconds: field(2, int64, 'Wanted lifetime of the token; at least 600.', pointer),
  path: required(3, string, 'Relative path of the file.'),
});

const clusterTrustBundleProjection = struct('ClusterTrustBundleProjection', {
  name: field(1, string, 'Name of one bundle; not together with signerName.', pointer),
  signerName: field(2, string, 'All bundles of this signer; not together with name.', pointer),
  labelSelector: field(3, labelSelector, "Which of the signer's bundles."),
  optional: field(5, bool, 'Whether the bundles may be missing.', pointer),
  path: required(4, string, 'Relative path of the file.'),
});

const podCertificateProjection = struct('PodCertificateProjection', {
  signerName: required(1, string, 'Who signs the certificate.'),
  keyType: required(2, string, 'Kind of key to make, ED25519 or RSA3072 for instance.'),
  maxExpirationSeconds: field(3, int32, 'Longest wanted lifetime of the certificate.', pointer),
  credentialBundlePath: field(4, string, 'Relative path of a file with key and chain together.'),
  keyPath: field(5, string, 'Relative path of the key.'),
  certificateChainPath: field(6, string, 'Relative path of the chain.'),
  userAnnotations: field(7, map(string), 'Further words for the signer.'),
});

export const volumeProjection = struct('VolumeProjection', {
  secret: field(1, secretProjection, 'Keys of a Secret.'),
  downwardAPI: field(2, downwardAPIProjection, 'Facts about the pod.'),
  configMap: field(3, configMapProjection, 'Keys of a ConfigMap.'),
  serviceAccountToken: field(4, serviceAccountTokenProjection, "A token of the pod's service account."),
  clusterTrustBundle: field(5, clusterTrustBundleProjection, 'Certificates of authorities.'),
  podCertificate: field(6, podCertificateProjection, 'A certificate for the pod, renewed in time.'),
});
