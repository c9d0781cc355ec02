/**
 * What stands for the network of a fresh machine, for packages that the trees of the lab lack, and for sudo. Each is a
 * script by its path in the tree.
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

/** Knows the one package that scripts/dependencies installs; another is an error, as is an ordinary user. */
const aptGet = `#!/bin/sh
set -eu
[ "$(id -u)" = 0 ] || { echo 'E: are you root?' >&2; exit 100; }
case "$*" in
  '-qq update') ;;
  '-qq -y --no-install-recommends install npm ca-certificates' | 'install --no-install-recommends npm ca-certificates')
    install -m 755 /opt/stand-ins/npm /opt/stand-ins/node /usr/bin ;;
  *) echo "E: apt-get $* is not known here" >&2; exit 100 ;;
esac
`;

/** Debian's npm brings Debian's Node.js, on which the launcher of tsc runs; here it is that of the packages. */
const node = `#!/bin/sh
exec /opt/packages/node_modules/.bin/node "$@"
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
  '/opt/stand-ins/node': node,
  '/opt/stand-ins/npm': npm,
};
