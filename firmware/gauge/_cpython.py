"""What CPython lacks so that the node's files run there unchanged (the host's model of a node).

Kernels are written in the subset that reads the same with the viper decorator removed, so the
decorators do nothing here and the pointer casts hand the array itself on.
"""


class micropython:
    """Stands for MicroPython's module of that name."""

    @staticmethod
    def viper(function):
        return function

    @staticmethod
    def native(function):
        return function


def const(value):
    return value


def ptr8(buffer):
    memoryview(buffer)
    return buffer


def ptr32(buffer):
    return buffer
