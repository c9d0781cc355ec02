/*
 * What control plane and node agents have agreed upon about requests that come to an agent through nodes/proxy.
 */

/** As whom the control plane comes to agents, with a certificate of the cluster's authority: its name in the reference. */
export const agentClientUser = 'kube-apiserver-kubelet-client';

/**
 * The header in which it tells who asked, percent-encoded. Agents believe it of the control plane's certificate only, and
 * for logs and records only: what may be done is decided by who comes.
 */
export const requesterHeader = 'nodeward-requester';
