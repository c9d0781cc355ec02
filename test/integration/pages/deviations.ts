/** What differs from running a block as it stands, on the machine of the control plane, to its end. */
export interface Deviation {
  /** Why it is not run at all. */
  readonly notRun?: string;
  /** Words of the page that stand for others, and what is put in their place. */
  readonly words?: Readonly<Record<string, string>>;
  /** It does not end by itself; when it has written this, it is ended as by Ctrl-C. */
  readonly until?: RegExp;
  /** With `until`: it is ended before the block that has `afterCtrlC`. */
  readonly keepsRunning?: true;
  readonly afterCtrlC?: true;
  /** It is for another machine than that of the control plane. */
  readonly onNewMachine?: true;
  /** Commands of root on that machine, before it: what the page tells in words, or presumes. */
  readonly before?: string;
  /** Commands of root on that machine, after it: they show that it has worked. */
  readonly after?: string;
  /** Commands of root on the machine of the control plane, while it runs. */
  readonly meanwhile?: string;
  /** It is no command but text for the end of this file. */
  readonly file?: string;
  /** It writes this, where the page shows something else or nothing. */
  readonly writes?: RegExp;
  /** Placeholders of the blocks that follow it on the page, and where in its output they are. */
  readonly finds?: Readonly<Record<string, RegExp>>;
  /** The page tells an ordinary user to go on as root. */
  readonly inRootShell?: true;
}

/** A machine on which nodeward was just installed, with another name than that of the control plane. */
const asJustInstalled = `systemctl disable --now nodeward
rm -rf /var/lib/nodeward
hostname new-node
mkdir -p /var/backups/nodeward`;

const approveTheNewNode = `export KUBECONFIG=/var/lib/nodeward/admin.kubeconfig
for _ in $(seq 300); do
  request=$(kubectl get csr 2> /dev/null | sed -n 's/ .*Pending.*//p')
  if [ -n "$request" ]; then exec kubectl certificate approve $request; fi
  sleep 0.1
done
exit 1`;

/** By page, and there by the beginning of the block, with which no other of the page begins. Every other block is run as it stands. */
export const deviations: Readonly<Record<string, Readonly<Record<string, Deviation>>>> = {
  'README.md': {
    'scripts/up': { until: /nodeward checkpoint NAMESPACE\/POD\/CONTAINER\n/, keepsRunning: true },
    // its last line is a watch
    'export KUBECONFIG=$PWD/.nodeward/admin.kubeconfig\nkubectl': { until: /renewTime[\s\S]*\nNAME .*\nvm / },
    'apt-get update': {
      afterCtrlC: true,
      inRootShell: true,
      until: /runtime +containerd/,
      keepsRunning: true,
    },
    // its last line is a watch
    'export KUBECONFIG=$PWD/.nodeward/admin.kubeconfig\ninstall': {
      inRootShell: true,
      until: /^(?=[\s\S]*^hello-vm +1\/1 +Running)(?=[\s\S]*^web +1\/1 +Running)/m,
    },
    './nodeward pods explain': { inRootShell: true, writes: /^phase Running/m },
    // containerd knows no checkpoints, or has no criu here; checkpoint.test.ts has both
    'pki=.nodeward/pki': { inRootShell: true, writes: /checkpoint|criu/i },
    'scripts/dependencies && node_modules/.bin/node scripts/build.ts': {
      afterCtrlC: true,
      after: 'systemctl is-active nodeward',
    },
    'scripts/test unit     # the unit tests; needs only npm': {
      notRun: 'it is the run of the tests, this one among them',
    },
  },
  'docs/how-to/back-up-and-restore.md': {
    '[Service]': { file: '/etc/systemd/system/nodeward-backup.service' },
    '[Timer]': { file: '/etc/systemd/system/nodeward-backup.timer' },
    'systemctl daemon-reload': {
      // a snapshot never replaces a file, and there is one of today
      after: `systemctl is-active nodeward-backup.timer
rm /var/backups/nodeward/*
systemctl start nodeward-backup.service
ls /var/backups/nodeward/store-$(date +%F) /var/backups/nodeward/pki-$(date +%F).tar.gz
cp /var/backups/nodeward/* /opt/between`,
    },
    'systemctl stop nodeward': { writes: /^\[\+\]storage ok.*restored/m },
    'install -d -m 700 /var/lib/nodeward': {
      onNewMachine: true,
      words: { '2026-03-04': '$(date +%F)' },
      before: `${asJustInstalled}\ncp /opt/between/* /var/backups/nodeward`,
      after: 'KUBECONFIG=/var/lib/nodeward/admin.kubeconfig kubectl get node vm',
    },
  },
  'docs/how-to/give-other-flags.md': {
    'editor /etc/nodeward/agent.env': {
      words: { editor: "sed -i 's/203.0.113.7/203.0.113.8/'" },
      after: `export KUBECONFIG=/var/lib/nodeward/admin.kubeconfig
timeout 60 sh -c 'until kubectl get nodes -o wide | grep 203.0.113.8; do sleep 0.2; done'`,
    },
  },
  'docs/how-to/join-a-node.md': {
    echo: { finds: { TOKEN: /--token (\S+)/, HASH: /--ca-hash sha256:(\S+)/ } },
    'nodeward join 192.0.2.1:6443 --token TOKEN --ca-hash sha256:HASH': {
      onNewMachine: true,
      before: asJustInstalled,
      writes: /the agent runs, and has its certificate\n$/,
    },
    'kubectl get nodes': {
      before: `export KUBECONFIG=/var/lib/nodeward/admin.kubeconfig
timeout 60 sh -c 'until kubectl get node new-node; do sleep 0.2; done'`,
      writes: /^new-node /m,
    },
    'systemctl stop nodeward': { onNewMachine: true, meanwhile: approveTheNewNode },
  },
  'docs/how-to/move-the-root-folder.md': {
    'systemctl stop nodeward\nmount': {
      words: { '/dev/sdb1': '/opt/between/disk' },
      before: `mkdir -p /mnt
mknod /dev/loop-control c 10 237
for n in $(seq 0 31); do mknod /dev/loop$n b 7 $n; done`,
      after: 'findmnt --noheadings --types ext4 /var/lib/nodeward',
    },
    'systemctl stop nodeward\ninstall': {
      after: `nodeward status --root-dir /srv/nodeward || true
grep NODEWARD_ROOT_DIR=/srv/nodeward /proc/$(systemctl show --property=MainPID --value nodeward)/environ`,
    },
  },
  'docs/how-to/remove-a-node.md': {
    'kubectl cordon NODE': { words: { NODE: 'new-node' } },
    'systemctl disable --now nodeward': { onNewMachine: true },
    'kubectl delete node NODE': { words: { NODE: 'new-node' } },
    'scripts/install --purge': {
      onNewMachine: true,
      after: '! ls -d /usr/lib/nodeward /etc/nodeward/* /var/lib/nodeward/*',
    },
  },
  'docs/how-to/upgrade.md': {
    'git checkout VERSION': { words: { VERSION: 'first' } },
  },
};
