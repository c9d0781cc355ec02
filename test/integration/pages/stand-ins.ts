/**
 * What stands for the network of a fresh machine, for packages that the trees of the lab lack, and for sudo: files by
 * their paths in the tree, those in folders of programs with the right to be run.
 */

/** Debian's packages that a page needs beside those of the trees: the programs are those of this machine. */
const ownPrograms = ['curl', 'git', 'gzip', 'openssl', 'tar'];

/** This machine's programs run with the loader and libraries beside them, whatever those of the tree are. */
function ownProgram(name: string): string {
  return `#!/bin/sh
libraries=$(echo /opt/own/usr/lib/*-linux-gnu | cut -d ' ' -f 1)
export GIT_EXEC_PATH=/opt/own/usr/lib/git-core GIT_TEMPLATE_DIR=
exec "$libraries"/ld-linux-*.so.* --library-path "$libraries" /opt/own/usr/bin/${name} "$@"
`;
}

/** Knows the packages that the pages install; another is an error, as is an ordinary user. */
const aptGet = `#!/bin/sh
set -eu
[ "$(id -u)" = 0 ] || { echo 'E: are you root?' >&2; exit 100; }
case "$*" in
  update | '-qq update') ;;
  '-qq -y --no-install-recommends install npm ca-certificates' | 'install --no-install-recommends npm ca-certificates')
    install -m 755 /opt/stand-ins/npm /usr/bin ;;
  'install -y --no-install-recommends containerd containernetworking-plugins') exec /opt/stand-ins/install-containerd ;;
  *) echo "E: apt-get $* is not known here" >&2; exit 100 ;;
esac
`;

/** With what the two packages depend on; like them, it brings no configuration of a network. */
const installContainerd = `#!/bin/sh
set -eu
mkdir -p /usr/lib/cni /etc/cni/net.d /etc/containerd
ln -s /opt/packages/containerd/* /usr/bin
ln -s /opt/packages/cni/* /usr/lib/cni
ln -s /opt/packages/iptables/bin/* /usr/sbin
install -m 755 /opt/stand-ins/runc /usr/sbin
cp /opt/stand-ins/containerd.toml /etc/containerd/config.toml
cp /opt/stand-ins/containerd.service /usr/lib/systemd/system
systemctl daemon-reload
systemctl enable --quiet --now containerd
`;

/** Debian's, and where it looks for registries that stand for others. */
const containerdConfig = `version = 2
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "/etc/cni/net.d"
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
`;

/** The port of the registry that stands for all others. */
export const registryPort = 5000;

const mirror = `[host."http://127.0.0.1:${registryPort}"]
  capabilities = ["pull", "resolve"]
`;

const containerdService = `[Service]
ExecStart=/usr/bin/containerd
Type=notify
Delegate=yes
KillMode=process
[Install]
WantedBy=multi-user.target
`;

/** The machine has no cgroup controllers, and must not protect its processes more than others: containers go without. */
const runc = `#!/opt/packages/node_modules/.bin/node
const { readFileSync, writeFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const argv = process.argv.slice(2);
const at = argv.indexOf('--bundle');
if (at >= 0) {
  const path = argv[at + 1] + '/config.json';
  const config = JSON.parse(readFileSync(path, 'utf8'));
  config.linux.resources = {};
  delete config.process.oomScoreAdj;
  writeFileSync(path, JSON.stringify(config));
}
const { status } = spawnSync('/opt/packages/containerd/runc', argv, { stdio: 'inherit' });
process.exitCode = status ?? 1;
`;

/** Fills node_modules, as npm ci does, with the packages of this machine's checkout. */
const npm = `#!/bin/sh
set -eu
[ "$1" = ci ] || { echo "npm $* is not known here" >&2; exit 1; }
[ "$(sha256sum < package-lock.json)" = "$(sha256sum < /opt/packages/package-lock.json)" ]
rm -rf node_modules
mkdir node_modules
ln -s /opt/packages/node_modules/* /opt/packages/node_modules/.bin node_modules
cp /opt/packages/node_modules/.package-lock.json node_modules
`;

/** For members of the group sudo, with a clean environment; without a password, which needs a terminal. */
const sudo = `#!/bin/sh
case $1 in -*) echo "sudo: $1 is not known here" >&2; exit 1 ;; esac
exec /usr/libexec/become-root --reuid=0 --regid=0 --init-groups env -i HOME=/root LANG=C.UTF-8 \\
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
`;

export const standIns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ownPrograms.map((name) => [`/usr/local/bin/${name}`, ownProgram(name)])),
  '/usr/bin/apt-get': aptGet,
  '/usr/bin/sudo': sudo,
  '/opt/stand-ins/install-containerd': installContainerd,
  '/opt/stand-ins/containerd.service': containerdService,
  '/opt/stand-ins/containerd.toml': containerdConfig,
  '/opt/stand-ins/npm': npm,
  '/opt/stand-ins/runc': runc,
  '/etc/containerd/certs.d/docker.io/hosts.toml': mirror,
  '/etc/containerd/certs.d/registry.k8s.io/hosts.toml': mirror,
};
