/** As `referenceNumbers`, for what describes storage, and trust that pods are given. */
export const storageReferenceNumbers: Readonly<Record<string, string>> = {
  PersistentVolume: 'metadata=1 spec=2 status=3',
  PersistentVolumeSpec:
    'capacity=1 persistentVolumeSource=2 accessModes=3 claimRef=4 persistentVolumeReclaimPolicy=5 storageClassName=6 mountOptions=7 volumeMode=8 nodeAffinity=9 volumeAttributesClassName=10 gcePersistentDisk=2.1 awsElasticBlockStore=2.2 hostPath=2.3 glusterfs=2.4 nfs=2.5 rbd=2.6 iscsi=2.7 cinder=2.8 cephfs=2.9 fc=2.10 flocker=2.11 flexVolume=2.12 azureFile=2.13 vsphereVolume=2.14 quobyte=2.15 azureDisk=2.16 photonPersistentDisk=2.17 portworxVolume=2.18 scaleIO=2.19 local=2.20 storageos=2.21 csi=2.22',
  VolumeNodeAffinity: 'required=1',
  PersistentVolumeStatus: 'phase=1 message=2 reason=3 lastPhaseTransitionTime=4',
  PersistentVolumeClaim: 'metadata=1 spec=2 status=3',
  PersistentVolumeClaimStatus:
    'phase=1 accessModes=2 capacity=3 conditions=4 allocatedResources=5 allocatedResourceStatuses=7 currentVolumeAttributesClassName=8 modifyVolumeStatus=9 healthStatus=10',
  PersistentVolumeClaimCondition: 'type=1 status=2 lastProbeTime=3 lastTransitionTime=4 reason=5 message=6',
  ModifyVolumeStatus: 'targetVolumeAttributesClassName=1 status=2',
  LocalVolumeSource: 'path=1 fsType=2',
  CSIPersistentVolumeSource:
    'driver=1 volumeHandle=2 readOnly=3 fsType=4 volumeAttributes=5 controllerPublishSecretRef=6 nodeStageSecretRef=7 nodePublishSecretRef=8 controllerExpandSecretRef=9 nodeExpandSecretRef=10',
  RBDPersistentVolumeSource: 'monitors=1 image=2 fsType=3 pool=4 user=5 keyring=6 secretRef=7 readOnly=8',
  ISCSIPersistentVolumeSource:
    'targetPortal=1 iqn=2 lun=3 iscsiInterface=4 fsType=5 readOnly=6 portals=7 chapAuthDiscovery=8 chapAuthSession=11 secretRef=10 initiatorName=12',
  CinderPersistentVolumeSource: 'volumeID=1 fsType=2 readOnly=3 secretRef=4',
  CephFSPersistentVolumeSource: 'monitors=1 path=2 user=3 secretFile=4 secretRef=5 readOnly=6',
  AzureFilePersistentVolumeSource: 'secretName=1 shareName=2 readOnly=3 secretNamespace=4',
  ScaleIOPersistentVolumeSource:
    'gateway=1 system=2 secretRef=3 sslEnabled=4 protectionDomain=5 storagePool=6 storageMode=7 volumeName=8 fsType=9 readOnly=10',
  StorageOSPersistentVolumeSource: 'volumeName=1 volumeNamespace=2 fsType=3 readOnly=4 secretRef=5',
  FlexPersistentVolumeSource: 'driver=1 fsType=2 secretRef=3 readOnly=4 options=5',
  GlusterfsPersistentVolumeSource: 'endpoints=1 path=2 readOnly=3 endpointsNamespace=4',
  TopologySelectorTerm: 'matchLabelExpressions=1',
  TopologySelectorLabelRequirement: 'key=1 values=2',
  StorageClass:
    'metadata=1 provisioner=2 parameters=3 reclaimPolicy=4 mountOptions=5 allowVolumeExpansion=6 volumeBindingMode=7 allowedTopologies=8',
  VolumeAttachment: 'metadata=1 spec=2 status=3',
  VolumeAttachmentSpec: 'attacher=1 source=2 nodeName=3',
  VolumeAttachmentSource: 'persistentVolumeName=1 inlineVolumeSpec=2',
  VolumeAttachmentStatus: 'attached=1 attachmentMetadata=2 attachError=3 detachError=4',
  VolumeError: 'time=1 message=2 errorCode=3',
  CSIDriver: 'metadata=1 spec=2',
  CSIDriverSpec:
    'attachRequired=1 podInfoOnMount=2 volumeLifecycleModes=3 storageCapacity=4 fsGroupPolicy=5 tokenRequests=6 requiresRepublish=7 seLinuxMount=8 nodeAllocatableUpdatePeriodSeconds=9 serviceAccountTokenInSecrets=10 preventPodSchedulingIfMissing=11',
  'storage/TokenRequest': 'audience=1 expirationSeconds=2',
  ClusterTrustBundle: 'metadata=1 spec=2',
  ClusterTrustBundleSpec: 'signerName=1 trustBundle=2',
};
