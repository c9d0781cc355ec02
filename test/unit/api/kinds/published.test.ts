import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedKinds } from '../../../../src/api/index.ts';
import { published, publishedGroup } from './published.ts';

const later = 'nothing here reads or writes it';

/** Kinds that the reference serves and this server does not, each with the reason. */
const notServed: Readonly<Record<string, string>> = {
  'admissionregistration/v1 MutatingAdmissionPolicy': later,
  'admissionregistration/v1 MutatingAdmissionPolicyBinding': later,
  'admissionregistration/v1 MutatingWebhookConfiguration': later,
  'admissionregistration/v1 ValidatingAdmissionPolicy': later,
  'admissionregistration/v1 ValidatingAdmissionPolicyBinding': later,
  'admissionregistration/v1 ValidatingWebhookConfiguration': later,
  'autoscaling/v1 HorizontalPodAutoscaler': 'served as v2',
  'certificates/v1beta1 CertificateSigningRequest': 'served as v1',
  'certificates/v1beta1 PodCertificateRequest': 'off by default in the reference',
  'core/v1 ComponentStatus': 'deprecated, and nothing here reports states in this way',
  'flowcontrol/v1 FlowSchema': later,
  'flowcontrol/v1 PriorityLevelConfiguration': later,
};

test('every stored kind of the published definitions is served, or there is a reason', () => {
  const served = new Set(
    servedKinds.map(({ group, version, kind }) => `${publishedGroup(group, version)} ${kind}`),
  );
  const all = Object.entries(published).flatMap(([group, { kinds }]) =>
    kinds.map((kind) => `${group} ${kind}`),
  );
  assert.deepEqual(
    all.filter((kind) => !served.has(kind)),
    Object.keys(notServed),
  );
});
