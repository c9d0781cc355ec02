/*
 * Why pods wait, are refused or end: every reason that this agent gives, with what it means and what a person can do. The
 * explanation of a pod, the labels of metrics and docs/pods.md have them from here.
 */

export interface PodReason {
  /**
   * `waits`: of the pod or a container, until that changes; `refused`: the node never takes the pod; `ended`: the node ends the
   * pod; `exit`: how a container ended.
   */
  readonly kind: 'waits' | 'refused' | 'ended' | 'exit';
  /** One sentence without its full stop. */
  readonly means: string;
  /** What to do, in the imperative; undefined: nothing. */
  readonly advice?: string;
}

const waits = (means: string, advice?: string): PodReason => ({ kind: 'waits', means, ...adviceOf(advice) });
const refused = (means: string, advice: string): PodReason => ({ kind: 'refused', means, advice });
const ended = (means: string, advice: string): PodReason => ({ kind: 'ended', means, advice });
const exit = (means: string, advice?: string): PodReason => ({ kind: 'exit', means, ...adviceOf(advice) });

const adviceOf = (advice: string | undefined) => (advice === undefined ? {} : { advice });

const seeMessage = 'do what the message says';

/** By reason. Where one has two meanings, this is that of a pod or container that does not run. */
export const podReasons = {
  NotAdmittedYet: waits(
    'the node has not decided about the pod: the message says what it waits for',
    'see the message; an earlier pod of that name, or pods that make room, must have ended first',
  ),
  RuntimeNotReady: waits(
    'the container runtime does not tell what it has of the pod',
    'look at the container runtime; nodeward doctor',
  ),
  ContainerCreating: waits(
    'the message says what is waited for: images, volumes, the sandbox, other containers',
  ),
  PodInitializing: waits(
    'the same in a pod with init containers: the message names the one that must finish first',
  ),
  NetworkNotReady: waits(
    'the runtime has no network for pods',
    'install a network plugin (CNI), and write its configuration into /etc/cni/net.d (a file that is only moved there may need a restart of the runtime); nodeward doctor',
  ),
  FailedCreatePodSandBox: waits(
    'the sandbox could not be made; it is tried again after 1, 2, 4 … 60 s',
    "do what the message says: it is the runtime's or the network plugin's",
  ),
  FailedPrepareDynamicResources: waits(
    'a claim of devices is not there, or its driver failed; it is tried again after 1, 2, 4 … 60 s',
    'do what the message says: it names the claim',
  ),
  FailedMount: waits(
    'a volume is not there; the message names it',
    'make what the message names; nodeward pods explain tells when it is tried again. Where mounts are refused: nodeward doctor',
  ),
  ErrImagePull: waits(
    'the image could not be pulled',
    "check the image's name, the registry and imagePullSecrets: the message is the registry's",
  ),
  ImagePullBackOff: waits(
    'the same; it is tried again after 10, 20 … 300 s',
    "check the image's name, the registry and imagePullSecrets: the message is the registry's",
  ),
  RegistryUnavailable: waits('the registry cannot be reached', 'look at the registry and the way to it'),
  SignatureValidationFailed: waits(
    'the signature of the image is not accepted',
    'sign the image, or change the policy of the runtime',
  ),
  ErrImageNeverPull: waits(
    'the image is not on the node, and imagePullPolicy is Never',
    'bring the image to the node, or change imagePullPolicy',
  ),
  InvalidImageName: waits('the name is no name of an image', 'correct the image of the container'),
  ImageInspectError: waits(
    'the runtime could not tell whether it has the image',
    'look at the container runtime; nodeward doctor',
  ),
  CreateContainerConfigError: waits(
    'the container asks for what there is not, such as a missing object, user, profile or field',
    'make what the message names, or change the pod',
  ),
  CreateContainerError: waits('the runtime did not make the container', seeMessage),
  PreStartHookError: waits(
    'the device plugin did not prepare the devices of the container',
    'look at the device plugin; nodeward devices ls',
  ),
  RunContainerError: waits('the container was made and could not be started', seeMessage),
  PostStartHookError: waits('its postStart hook failed, so it was ended', 'look at the hook'),
  CrashLoopBackOff: waits(
    'it keeps ending; it is started again after 10, 20 … 300 s (`crashLoopBackOff.maxContainerRestartPeriod`)',
    'look at its log and its last end',
  ),
  ContainerNotStarted: waits(
    'it runs, and its startup probe has not succeeded yet: the message says how often it was tried',
    'do what the message says; when the container needs longer, raise failureThreshold or periodSeconds',
  ),
  ContainerNotReady: waits(
    'it runs, and its readiness probe does not succeed: the message is that of the probe',
    'do what the message says; look at its log',
  ),
  RestartingAllContainers: waits('a rule of a container restarts all containers of the pod'),
  ResizeInProgress: waits('what it asked for since it runs is being given to its containers'),
  ResizeDeferred: waits(
    'it runs, and asks for more than the node has left; it is tried again when pods change or go, and every 30 s',
    'remove other pods, or ask for less: kubectl patch --subresource resize',
  ),
  ResizeInfeasible: waits(
    'it runs, and asks for what this node can never give it',
    'ask for less, or make the pod again elsewhere',
  ),
  ResizeError: waits(
    'it runs, and could not be given what it asked for; it is tried again after 1, 2, 4 … 60 s',
    'do what the message says; where it names memory in use, lower that, or ask for more',
  ),
  Terminating: waits(
    'the pod ends; the message says what is still there',
    'wait for its grace period; where nothing is left on the node, remove what the finalizers stand for',
  ),
  FailedCleanup: waits(
    'what the pod held could not be released or removed; it is tried again after 1, 2, 4 … 60 s',
    seeMessage,
  ),
  FailedKillPod: waits('what runs could not be stopped; it is tried again after 1, 2, 4 … 10 s', seeMessage),

  OutOfcpu: refused(
    'the node has not that much CPU left for requests',
    'lower requests, or remove other pods',
  ),
  OutOfmemory: refused(
    'the node has not that much memory left for requests',
    'lower requests, or remove other pods',
  ),
  'OutOfephemeral-storage': refused(
    'the node has not that much disk left for requests',
    'lower requests, or remove other pods',
  ),
  OutOfpods: refused(
    'the node runs as many pods as it may',
    'raise maxPods or podsPerCore, or remove other pods',
  ),
  'OutOf<resource>': refused(
    'the node has not that many devices left',
    'remove other pods that hold some; nodeward devices ls',
  ),
  NodeAffinity: refused(
    'its nodeSelector or required node affinity does not fit the labels of the node',
    'label the node, or change the pod',
  ),
  NodeName: refused('it names another node', 'change spec.nodeName'),
  NodePorts: refused(
    'another pod of the node has one of its host ports',
    'remove that pod, or change hostPort',
  ),
  TaintToleration: refused(
    'the node has a taint with the effect NoExecute that the pod does not tolerate',
    'remove the taint, or add a toleration',
  ),
  PodOSNotSupported: refused('it is for another operating system', 'bind it to another node'),
  PodOSSelectorNodeLabelDoesNotMatch: refused(
    'its label kubernetes.io/os names another operating system',
    'correct the label, or bind it to another node',
  ),
  SupplementalGroupsPolicyNotSupported: refused(
    'the runtime does not know supplementalGroupsPolicy',
    'update the runtime, or leave the field unset',
  ),
  SysctlForbidden: refused(
    'it sets a kernel parameter that is not safe and not allowed here',
    'add it to allowedUnsafeSysctls, or change the pod',
  ),
  RuntimeClassNotFound: refused(
    'the runtime has no handler as its RuntimeClass names it',
    'configure the handler in the runtime, or change runtimeClassName',
  ),
  AppArmor: refused(
    'it asks for a profile of AppArmor that cannot be enforced here',
    'load the profile, or change the pod',
  ),
  PodFeatureUnsupported: refused('it asks for what this node cannot do', seeMessage),
  InvalidNodeInfo: refused('the Node of this machine could not be read', 'look at the control plane'),
  NodeShutdown: refused('the node shuts down', 'make the pod again elsewhere, or after the restart'),
  Evicted: refused(
    'the node is short of memory, disk or process numbers, or the pod uses more disk than its limits allow; the message says which',
    'make room on the node (nodeward status), or raise the limit that the message names',
  ),
  UnexpectedAdmissionError: refused(
    'devices could not be allocated, or no pods could be found that would make room',
    'do what the message says: where it names devices, nodeward devices ls; where it names pods, raise maxPods or remove critical pods',
  ),

  DeadlineExceeded: ended(
    'it was active longer than activeDeadlineSeconds',
    'raise it, or make the pod again',
  ),
  Preempting: ended('a critical pod needed its place', 'make the pod again elsewhere'),
  Terminated: ended(
    'the machine was to shut down; static pods begin again when that is over',
    'make the pod again; those of controllers are made again by them',
  ),

  Completed: exit('it ended by itself, with exit code 0'),
  Error: exit('it ended with another exit code', 'look at its log'),
  OOMKilled: exit('the kernel killed it, or a process of it, for its memory', 'raise its memory limit'),
  OOMKilling: exit(
    'the kernel killed a process of it for its memory; it may run on',
    'raise its memory limit',
  ),
  StartError: exit('the runtime could not start its process', 'check command and image'),
  ContainerCannotRun: exit('the runtime could not run it', seeMessage),
  Unknown: exit('it ended while the runtime was away, which cannot tell how'),
  ContainerStatusUnknown: exit('the runtime has lost it, so nobody knows how it ended'),
} as const satisfies Readonly<Record<string, PodReason>>;

export function findReason(reason: string): PodReason | undefined {
  const known: Readonly<Record<string, PodReason>> = podReasons;
  if (Object.hasOwn(known, reason)) return known[reason];
  return reason.startsWith('OutOf') ? podReasons['OutOf<resource>'] : undefined;
}

/** For labels of metrics: a reason of the list, else `Other`, since runtimes and devices may make up their own. */
export function knownReason(reason: string): string {
  return Object.hasOwn(podReasons, reason) ? reason : 'Other';
}
