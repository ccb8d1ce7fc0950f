"""The only sockets: inventories, and one question to every node of a fleet, by pyinfra.

Importing this package costs nothing. pyinfra, gevent and paramiko (0.4 s) are loaded by the functions that
need them, through `engine`, which prepares them once.
"""
