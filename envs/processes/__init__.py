"""A pool of processes that may be killed at any moment, forked from one that has everything loaded.

    pool = pool_of("package.module", ("what", "it prepares"))
    with pool.lease() as child:
        answer = child.ask(question, seconds=2)     # ChildLost where it died or was too slow

The service is a module with ``prepare(*arguments)``, which runs once, and ``answer(prepared,
question, descriptors)``, which runs in the children. Nothing here knows databases.
"""

from envs.processes.pool import Child, ChildLost, GoneError, Pool, close_pools, pool_of

__all__ = ["Child", "ChildLost", "GoneError", "Pool", "close_pools", "pool_of"]
