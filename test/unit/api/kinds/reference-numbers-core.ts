/** As `referenceNumbers`, for what holds configuration, names callers, tells of events and describes volumes. */
export const coreReferenceNumbers: Readonly<Record<string, string>> = {
  ConfigMap: 'metadata=1 immutable=4 data=2 binaryData=3',
  Secret: 'metadata=1 immutable=5 data=2 stringData=4 type=3',
  ServiceAccount: 'metadata=1 secrets=2 imagePullSecrets=3 automountServiceAccountToken=4',
  Event:
    'metadata=1 involvedObject=2 reason=3 message=4 source=5 firstTimestamp=6 lastTimestamp=7 count=8 type=9 eventTime=10 series=11 action=12 related=13 reportingComponent=14 reportingInstance=15',
  'events/Event':
    'metadata=1 eventTime=2 series=3 reportingController=4 reportingInstance=5 action=6 reason=7 regarding=8 related=9 note=10 type=11 deprecatedSource=12 deprecatedFirstTimestamp=13 deprecatedLastTimestamp=14 deprecatedCount=15',
  EventSeries: 'count=1 lastObservedTime=2',
  EventSource: 'component=1 host=2',
  ObjectReference: 'kind=1 namespace=2 name=3 uid=4 apiVersion=5 resourceVersion=6 fieldPath=7',
  LocalObjectReference: 'name=1',
  CSINode: 'metadata=1 spec=2 status=3',
  CSINodeSpec: 'drivers=1',
  CSINodeDriver: 'name=1 nodeID=2 topologyKeys=3 allocatable=4',
  VolumeNodeResources: 'count=1',
  RuntimeClass: 'metadata=1 handler=2 overhead=3 scheduling=4',
  Overhead: 'podFixed=1',
  Scheduling: 'nodeSelector=1 tolerations=2',
  Condition: 'type=1 status=2 observedGeneration=3 lastTransitionTime=4 reason=5 message=6',
  Service: 'metadata=1 spec=2 status=3',
  ServiceSpec:
    'ports=1 selector=2 clusterIP=3 clusterIPs=18 type=4 externalIPs=5 sessionAffinity=7 loadBalancerIP=8 loadBalancerSourceRanges=9 externalName=10 externalTrafficPolicy=11 healthCheckNodePort=12 publishNotReadyAddresses=13 sessionAffinityConfig=14 ipFamilies=19 ipFamilyPolicy=17 allocateLoadBalancerNodePorts=20 loadBalancerClass=21 internalTrafficPolicy=22 trafficDistribution=23',
  ServicePort: 'name=1 protocol=2 appProtocol=6 port=3 targetPort=4 nodePort=5',
  ServiceStatus: 'loadBalancer=1 conditions=2',
  LoadBalancerStatus: 'ingress=1',
  LoadBalancerIngress: 'ip=1 hostname=2 ipMode=3 ports=4',
  PortStatus: 'port=1 protocol=2 error=3',
  SessionAffinityConfig: 'clientIP=1',
  ClientIPConfig: 'timeoutSeconds=1',
};
