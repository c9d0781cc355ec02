/*
 * The system's D-Bus for a machine of the lab, whose trees have systemd with logind but no bus: dbus-daemon is this machine's own,
 * with the loader and libraries beside it.
 */

/** Debian's logind starts only where there is a file of that name. */
const daemon = `#!/bin/sh
libraries=$(echo /opt/own/usr/lib/*-linux-gnu | cut -d ' ' -f 1)
exec "$libraries"/ld-linux-*.so.* --library-path "$libraries" /opt/own/usr/bin/dbus-daemon "$@"
`;

const service = `[Unit]
Description=D-Bus System Message Bus
Requires=dbus.socket

[Service]
Type=notify
NotifyAccess=main
ExecStart=/bin/sh /usr/bin/dbus-daemon --config-file=/etc/lab-bus.conf --address=systemd: --nofork --nopidfile --systemd-activation
`;

const socket = `[Unit]
Description=D-Bus System Message Bus Socket

[Socket]
ListenStream=/run/dbus/system_bus_socket
`;

/** Who may do what is as in the bus's own configuration: nothing, but what the services beside it allow. */
const configuration = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <user>root</user>
  <standard_system_servicedirs/>
  <auth>EXTERNAL</auth>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Properties"/>
  </policy>
  <policy user="root">
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.systemd1.Activator"/>
  </policy>
  <includedir>/usr/share/dbus-1/system.d</includedir>
</busconfig>
`;

/** For `bootSystemd`. */
export const systemBus = {
  files: {
    '/usr/bin/dbus-daemon': daemon,
    '/usr/lib/systemd/system/dbus.service': service,
    '/usr/lib/systemd/system/dbus.socket': socket,
    '/etc/lab-bus.conf': configuration,
  },
  readOnlyBinds: { '/opt/own/usr': '/usr' },
} as const;
