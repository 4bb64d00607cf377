"""What a program shows on a terminal of a given width."""

import fcntl
import os
import pty
import struct
import termios

import runs


def shown_on_terminal(command, columns, environment=None, errors=None, seen=lambda text: None):
    """All output of a command that must succeed; `columns` 0: the terminal does not say. `errors`: a file that standard
    error goes to. `seen` is called with what has been shown so far, after each part."""
    child, terminal = pty.fork()
    if child == 0:
        runs.default_signals()
        os.environ.update(environment or {})
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        if errors:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        os.execvp(command[0], list(map(str, command)))
    text = b""
    try:
        while part := os.read(terminal, 65536):
            text += part
            seen(text.decode(errors="replace"))
    except OSError:  # Linux: the other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text
    os.close(terminal)
    return text.decode()
