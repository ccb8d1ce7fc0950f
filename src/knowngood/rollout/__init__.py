"""How a change reaches a fleet: what each node lacks, in which waves, behind which gates.

Pure: no sockets, no files, no screen. The engine drives an abstract crew and tells what happens as events.
"""
