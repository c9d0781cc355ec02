"""Runs a program on a terminal of its own: `pseudo-terminal.py COLUMNS ROWS PROGRAM ARGUMENT...`.

What the program writes comes on standard output as it is. Each line on standard input is a JSON object: `keys` to be typed,
`size` [columns, rows], `signal` a number for the program, `hangup` to close the terminal. On standard error: first
`{"pid": …}`, and when the program has ended `{"code": …, "isCooked": …}`: how, and whether the terminal is as it was.
"""
import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])


def resize(descriptor, columns, rows):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


ended_read, ended_write = os.pipe()
os.set_blocking(ended_write, False)
signal.set_wakeup_fd(ended_write)
signal.signal(signal.SIGCHLD, lambda *_: None)

master, slave = os.openpty()
resize(slave, columns, rows)
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in range(3):
        os.dup2(slave, descriptor)
    os.execvp(sys.argv[3], sys.argv[3:])
# the slave stays open, so that the terminal outlives the program and says how it was left


def tell(message):
    os.write(2, (json.dumps(message) + "\n").encode())


def forward(timeout):
    """Passes on what the program has written; false when there was nothing."""
    if master is None or not select.select([master], [], [], timeout)[0]:
        return False
    data = os.read(master, 65536)
    while data:
        data = data[os.write(1, data):]
    return True


def obey(order):
    global master
    if "keys" in order:
        os.write(master, order["keys"].encode())
    if "size" in order:
        resize(master, *order["size"])
    if "signal" in order:
        os.kill(pid, order["signal"])
    if "hangup" in order:
        os.close(slave)
        os.close(master)
        master = None


tell({"pid": pid})
orders = b""
while True:
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        break
    watched = [0, ended_read] + ([master] if master is not None else [])
    ready = select.select(watched, [], [])[0]
    if ended_read in ready:
        os.read(ended_read, 4096)
    if master in ready:
        forward(0)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:  # the test is over
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            sys.exit(0)
        orders += data
        *lines, orders = orders.split(b"\n")
        for line in lines:
            obey(json.loads(line))
while forward(0):
    pass
is_cooked = master is not None and termios.tcgetattr(slave)[:4] == before[:4]
tell({"code": os.waitstatus_to_exitcode(status), "isCooked": is_cooked})
