import { checkName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, map, required, string, struct, time } from '../../schema/index.ts';
import { forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { pointer } from '../pod-spec/wire.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { driverNameCauses, volumeSpecCauses } from './volume-causes.ts';
import { persistentVolumeSpec } from './volume-description.ts';

const volumeError = struct('VolumeError', {
  time: field(1, time, 'When it happened.', { written: true }),
  message: field(2, string, 'What happened.'),
  errorCode: field(3, int32, 'Code of the driver.', pointer),
});

const attachmentSpec = struct('VolumeAttachmentSpec', {
  attacher: required(1, string, 'Name of the driver that attaches.'),
  source: required(
    2,
    struct('VolumeAttachmentSource', {
      persistentVolumeName: field(1, string, 'Name of the volume.', pointer),
      inlineVolumeSpec: field(2, persistentVolumeSpec, 'The volume itself, of a pod from before CSI.'),
    }),
    'What is attached.',
  ),
  nodeName: required(3, string, 'Where it is attached.'),
});

const attachmentStatus = struct('VolumeAttachmentStatus', {
  attached: required(1, bool, 'Whether it is attached.'),
  attachmentMetadata: field(2, map(string), 'What the driver says for the node.'),
  attachError: field(3, volumeError, 'Why it is not attached.'),
  detachError: field(4, volumeError, 'Why it is still attached.'),
});

const root = objectStruct('VolumeAttachment', {
  spec: required(2, attachmentSpec, 'Desired state.'),
  status: field(3, attachmentStatus, 'Observed state.', { default: {} }),
});

/** A volume at a node, or the wish for that. */
export interface VolumeAttachment extends Infer<typeof root> {}

const metadataLimitBytes = 256 * 1024;

function validate({ spec, status }: VolumeAttachment, old: VolumeAttachment | undefined): Cause[] {
  const { attachmentMetadata = {}, attachError, detachError } = status ?? {};
  const bytes = Object.entries(attachmentMetadata)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const isChanged = old !== undefined && !hasSameMeaning(attachmentSpec, spec, old.spec);
  const tooLong = (field: string, limit: number) =>
    ({
      reason: 'FieldValueTooLong',
      field,
      message: `Too long: may not be more than ${limit} bytes`,
    }) as const;
  const long = (field: string, text = '') =>
    Buffer.byteLength(text) > metadataLimitBytes ? [tooLong(field, metadataLimitBytes)] : [];
  return [
    ...driverNameCauses('spec.attacher', spec.attacher),
    ...sourceCauses(spec.source, 'spec.source'),
    ...invalidUnless('spec.nodeName', spec.nodeName, checkName('subdomain', spec.nodeName)),
    ...(bytes > metadataLimitBytes ? [tooLong('status.attachmentMetadata', metadataLimitBytes)] : []),
    ...long('status.attachError.message', attachError?.message),
    ...long('status.detachError.message', detachError?.message),
    ...(isChanged ? [invalidValue('spec', spec, 'field is immutable')] : []),
  ];
}

function sourceCauses(source: VolumeAttachment['spec']['source'], path: string): Cause[] {
  const { persistentVolumeName: name, inlineVolumeSpec } = source;
  if (inlineVolumeSpec === undefined && name === undefined) {
    const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
    return [requiredValue(path, detail)];
  }
  if (inlineVolumeSpec !== undefined && name !== undefined) {
    const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
    return [forbiddenValue(path, detail)];
  }
  if (inlineVolumeSpec !== undefined)
    return volumeSpecCauses(inlineVolumeSpec, `${path}.inlineVolumeSpec`, true);
  if (name === '')
    return [requiredValue(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')];
  return invalidUnless(`${path}.persistentVolumeName`, name, checkName('subdomain', name ?? ''));
}

export const volumeAttachmentKind = defineKind<VolumeAttachment>({
  group: 'storage',
  version: 'v1',
  kind: 'VolumeAttachment',
  doc: 'A volume that is attached to a node, or to be attached.',
  resource: 'volumeattachments',
  singular: 'volumeattachment',
  namespaced: false,
  unconditionalUpdate: false,
  root,
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'], fields: ['status'] }],
  prepare: (next, old) => (old === undefined ? { ...next, status: { attached: false } } : next),
  validate,
  columns: [
    textColumn('Attacher', 0, 'Name of the driver that attaches.', ({ spec }) => spec?.attacher ?? ''),
    textColumn('PV', 0, 'The volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    textColumn('Node', 0, 'Where it is attached.', ({ spec }) => spec?.nodeName ?? ''),
    {
      name: 'Attached',
      type: 'boolean',
      description: 'Whether it is attached.',
      priority: 0,
      value: ({ status }) => status?.attached ?? false,
    },
    ageColumn,
  ],
});
