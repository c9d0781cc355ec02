import { accessNumbers } from './reference-numbers-access.ts';
import { authNumbers } from './reference-numbers-auth.ts';

import { coreReferenceNumbers } from './reference-numbers-core.ts';
import { podNumbers } from './reference-numbers-pod.ts';
import { storageReferenceNumbers } from './reference-numbers-storage.ts';

/**
 * The numbers of the fields in the published protobuf messages of the same names (k8s.io/api, k8s.io/apimachinery).
 * A field of ours must have the number it has there; further fields there may be missing here.
 */
export const referenceNumbers: Readonly<Record<string, string>> = {
  ...coreReferenceNumbers,
  ...accessNumbers,
  ...authNumbers,
  ...podNumbers,
  ...storageReferenceNumbers,
  Namespace: 'metadata=1 spec=2 status=3',
  NamespaceSpec: 'finalizers=1',
  NamespaceStatus: 'phase=1 conditions=2',
  NamespaceCondition: 'type=1 status=2 lastTransitionTime=4 reason=5 message=6',
  Node: 'metadata=1 spec=2 status=3',
  NodeSpec:
    'podCIDR=1 podCIDRs=7 providerID=3 unschedulable=4 taints=5 configSource=6 externalID=2 podPreemptionPolicy=8',
  NodeStatus:
    'capacity=1 allocatable=2 phase=3 conditions=4 addresses=5 daemonEndpoints=6 nodeInfo=7 images=8 volumesInUse=9 volumesAttached=10 config=11 runtimeHandlers=12 features=13 declaredFeatures=14',
  NodeCondition: 'type=1 status=2 lastHeartbeatTime=3 lastTransitionTime=4 reason=5 message=6',
  NodeAddress: 'type=1 address=2',
  NodeDaemonEndpoints: 'kubeletEndpoint=1',
  DaemonEndpoint: 'Port=1',
  NodeSystemInfo:
    'machineID=1 systemUUID=2 bootID=3 kernelVersion=4 osImage=5 containerRuntimeVersion=6 kubeletVersion=7 kubeProxyVersion=8 operatingSystem=9 architecture=10 swap=11',
  NodeSwapStatus: 'capacity=1',
  ContainerImage: 'names=1 sizeBytes=2',
  AttachedVolume: 'name=1 devicePath=2',
  NodeRuntimeHandler: 'name=1 features=2',
  NodeRuntimeHandlerFeatures: 'recursiveReadOnlyMounts=1 userNamespaces=2',
  NodeFeatures: 'supplementalGroupsPolicy=1',
  Taint: 'key=1 value=2 effect=3 timeAdded=4',
  NodeConfigSource: 'configMap=2',
  ConfigMapNodeConfigSource: 'namespace=1 name=2 uid=3 resourceVersion=4 kubeletConfigKey=5',
  NodeConfigStatus: 'assigned=1 active=2 lastKnownGood=3 error=4',
  'networking/IngressRule': 'host=1 http=2.1',
  'networking/IngressClassParametersReference': 'apiGroup=1 kind=2 name=3 scope=4 namespace=5',
  'resource/DeviceClaimConfiguration': 'requests=1 opaque=2.1',
  'resource/DeviceAllocationConfiguration': 'source=1 requests=2 opaque=3.1',
  'resource/DeviceClassConfiguration': 'opaque=1.1',
  'admissionregistration/RuleWithOperations':
    'operations=1 apiGroups=2.1 apiVersions=2.2 resources=2.3 scope=2.4',
  'admissionregistration/NamedRuleWithOperations':
    'resourceNames=1 operations=2.1 apiGroups=2.2.1 apiVersions=2.2.2 resources=2.2.3 scope=2.2.4',
  'admissionregistration/MutatingWebhookConfiguration': 'metadata=1 webhooks=2',
  'admissionregistration/ValidatingWebhookConfiguration': 'metadata=1 webhooks=2',
  'admissionregistration/Validation': 'expression=1 message=2 reason=3 messageExpression=4',
  'admissionregistration/Variable': 'name=1 expression=2',
  Lease: 'metadata=1 spec=2',
  LeaseSpec:
    'holderIdentity=1 leaseDurationSeconds=2 acquireTime=3 renewTime=4 leaseTransitions=5 strategy=6 preferredHolder=7',
  CertificateSigningRequest: 'metadata=1 spec=2 status=3',
  CertificateSigningRequestSpec:
    'request=1 signerName=7 expirationSeconds=8 usages=5 username=2 uid=3 groups=4 extra=6',
  CertificateSigningRequestStatus: 'conditions=1 certificate=2',
  CertificateSigningRequestCondition:
    'type=1 status=6 reason=2 message=3 lastUpdateTime=4 lastTransitionTime=5',
  ObjectMeta:
    'name=1 generateName=2 namespace=3 selfLink=4 uid=5 resourceVersion=6 generation=7 creationTimestamp=8 deletionTimestamp=9 deletionGracePeriodSeconds=10 labels=11 annotations=12 ownerReferences=13 finalizers=14 managedFields=17',
  ListMeta: 'selfLink=1 resourceVersion=2 continue=3 remainingItemCount=4 shardInfo=5',
  OwnerReference: 'apiVersion=5 kind=1 name=3 uid=4 controller=6 blockOwnerDeletion=7',
  ManagedFieldsEntry: 'manager=1 operation=2 apiVersion=3 time=4 fieldsType=6 fieldsV1=7 subresource=8',
  Status: 'metadata=1 status=2 message=3 reason=4 details=5 code=6',
  StatusDetails: 'name=1 group=2 kind=3 uid=6 causes=4 retryAfterSeconds=5',
  StatusCause: 'reason=1 message=2 field=3',
};
