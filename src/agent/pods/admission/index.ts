/** Whether a pod may run on this node. Pure: it reads no clock and nothing else. */
export { admitPod, compareForAdmission } from './admit.ts';
export { criticalPriority, importanceOf, isCritical } from './pod-class.ts';
export { compareResizes, judgeResize } from './resize.ts';
export { isNamespacedSysctl, isSysctlPattern } from './sysctls.ts';
export {
  type Admission,
  type AdmissionInput,
  type AdmissionSettings,
  type AdmittingNode,
  type Neighbour,
  type NodeFeatures,
  nodeShutdown,
  nodeShutdownRefusal,
  type Pressure,
  preemption,
  type Refusal,
  type RefusedAdmission,
} from './types.ts';
