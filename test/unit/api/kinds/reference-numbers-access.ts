/**
 * The numbers of our own kinds, which nobody else publishes: written down here so that none changes once clients have
 * them.
 */
export const accessNumbers: Readonly<Record<string, string>> = {
  AccessExplanation: 'metadata=1 spec=2 status=3',
  AccessExplanationSpec: 'resourceAttributes=1 nonResourceAttributes=2 user=3 groups=4 extra=5 uid=6',
  AccessExplanationStatus:
    'allowed=1 decidedBy=2 reason=3 user=4 groups=5 grants=6 moreGrants=7 nearMisses=8 moreNearMisses=9 remedy=10 errors=11 asked=12',
  AccessReference: 'kind=1 namespace=2 name=3',
  AccessGrant: 'binding=1 role=2 subject=3 rules=4',
  AccessNearMiss: 'reason=1 message=2 binding=3 role=4 subject=5 rule=6',
  AccessRemedy: 'rule=1 manifest=2',
  AccessQuery: 'metadata=1 spec=2 status=3',
  AccessQuerySpec: 'whoCan=1 whatCan=2',
  AccessQueryWhoCan: 'resourceAttributes=1 nonResourceAttributes=2',
  AccessQueryWhatCan: 'user=1 groups=2 namespace=3',
  AccessQueryStatus: 'subjects=1 moreSubjects=2 namespaces=3 moreNamespaces=4 incomplete=5 errors=6',
  AccessHolder: 'subject=1 through=2 authorizer=3',
  AccessThrough: 'binding=1 role=2',
  AccessDiff: 'metadata=1 spec=2 status=3',
  AccessDiffSpec: 'objects=1 deleted=2 replace=3',
  AccessDiffStatus: 'changes=1 moreSubjects=2 truncated=3 incomplete=4 errors=5',
  AccessDiffObject: 'apiVersion=1 kind=2 metadata=3 rules=4 aggregationRule=5 subjects=6 roleRef=7',
  AccessChange: 'subject=1 gains=2 loses=3 moreRights=4',
  AccessRight: 'namespace=1 rule=2 exceptIn=3',
  AccessOpinion: 'authorizer=1 verdict=2 reason=3',
  PlacementExplanation: 'metadata=1 spec=2 status=3',
  PlacementExplanationSpec: 'podName=1 allNodes=2',
  PlacementExplanationStatus:
    'waitsFor=1 nodeName=2 schedulerName=3 nodeCount=4 fits=5 refused=6 moreRefused=7 preemptions=8 morePreemptions=9',
  PlacementWait: 'reason=1 message=2',
  PlacementNodes: 'count=1 names=2',
  PlacementRefusal: 'filter=1 message=2 nodes=3',
  PlacementPreemption: 'node=1 podCount=2 pods=3 violations=4',
  AccessNamespaceRules: 'namespace=1 resourceRules=2 nonResourceRules=3',
};
