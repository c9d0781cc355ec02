/*
 * The convention between control plane and node agents for requests that reach an agent through nodes/proxy.
 */

/** The user name of the control plane at agents, in its client certificate of the cluster's authority; as in the reference. */
export const agentClientUser = 'kube-apiserver-kubelet-client';

/**
 * The header with the name of the requesting user, percent-encoded. Agents accept it only with the control plane's
 * certificate, and use it only for logs and records: authorization looks at the user of the connection.
 */
export const requesterHeader = 'nodeward-requester';
