import type { Pod } from '../../../api/index.ts';
import { containersOf, resolveAppArmor } from '../../seccomp/index.ts';
import type { AdmissionInput, AdmittingNode, NodeFeatures, Refusal } from './types.ts';
import { nodeShutdownRefusal } from './types.ts';

/* What a pod may ask for and this machine or its runtime cannot give. */

const osLabel = 'kubernetes.io/os';

/** The operating system: by the pod's own label, as in the reference, and by its field. */
export function findOsRefusal({ metadata, spec }: Pod): Refusal | undefined {
  const label = metadata?.labels?.[osLabel];
  if (label !== undefined && label !== 'linux') {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec?.os === undefined || spec.os.name === 'linux') return undefined;
  return {
    reason: 'PodOSNotSupported',
    message: "Failed to admit pod as the OS field doesn't match node OS",
  };
}

export function findGroupsRefusal({ spec }: Pod, features: NodeFeatures): Refusal | undefined {
  const isStrict = spec?.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (!isStrict || features.supplementalGroupsPolicy === true) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  };
}

/** The RuntimeClass of the pod, the handler that it names, and user namespaces, which not every handler has. */
export function findRuntimeRefusal({ pod, features, settings }: AdmissionInput): Refusal | undefined {
  const { runtimeClassName = '', hostUsers } = pod.spec ?? {};
  const isClassKnown = runtimeClassName === '' || settings.handlerOf !== undefined;
  const handler = runtimeClassName === '' ? '' : settings.handlerOf?.(runtimeClassName);
  if (handler === undefined) {
    const message = `RuntimeClass ${JSON.stringify(runtimeClassName)} not found`;
    return isClassKnown ? { reason: 'RuntimeClassNotFound', message } : undefined;
  }
  const { runtimeHandlers } = features;
  if (runtimeHandlers === undefined) return undefined;
  const found = runtimeHandlers.find(({ name }) => name === handler);
  const about = `RuntimeClass handler ${JSON.stringify(handler)}`;
  if (found === undefined && handler !== '') return unsupported(`${about} not found`);
  const lacksUsers = hostUsers === false && found?.userNamespaces !== true;
  return lacksUsers ? unsupported(`${about} does not support user namespaces`) : undefined;
}

const unsupported = (message: string): Refusal => ({ reason: 'PodFeatureUnsupported', message });

/** A container that must run with a profile of the node cannot be made where the kernel has no AppArmor. */
export function findAppArmorRefusal(pod: Pod, { appArmor }: NodeFeatures): Refusal | undefined {
  if (appArmor.enabled) return undefined;
  const asksForProfile = containersOf(pod).some(({ name }) => {
    // asked as if there were AppArmor with any profile: only what the pod wants counts here
    const resolved = resolveAppArmor(pod, name, { enabled: true });
    return resolved.type === 'resolved' && resolved.wanted.type === 'Localhost';
  });
  if (!asksForProfile) return undefined;
  const message = 'Cannot enforce AppArmor: AppArmor is not enabled on the host';
  return { reason: 'AppArmor', message };
}

/** The node, and that it goes down: then nothing new is taken up. */
export function findNodeRefusal(node: AdmittingNode | undefined): Refusal | undefined {
  if (node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
  return node.isShuttingDown ? nodeShutdownRefusal : undefined;
}
