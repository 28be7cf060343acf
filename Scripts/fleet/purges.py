"""Sources that change and are purged while a fleet is disturbed, and which colours its answers may have. For bench-fleet."""
import asyncio, random, time

from .client import Connection
from .colors import is_near, write_color

# How long a replica may go on with what it has: it has to reach the tier again after the longest stop of Redis.
GRACE = 15
# A store that loses everything may lose what was purged just before, where the replica that purged is emptied, too.
LOSS = 3


class Purged:
    """One source."""

    def __init__(self, origin, name):
        self.origin, self.name = origin, name
        self.color = self.new_color()
        self.allowed = [(0, [self.color])]

    def new_color(self):
        color = tuple(random.choice([25, 75, 125, 175, 225]) for _ in range(3))
        write_color(self.origin, self.name, color, 300)
        return color

    def allows(self, color, began):
        """Whether an answer to a request that began then may have the colour."""
        allowed = [colors for since, colors in self.allowed if since <= began][-1]
        return any(is_near(color, one) for one in allowed)

    async def purge(self, replicas, counts):
        """Changes the source, and purges it until that is answered with 200."""
        old = self.allowed[-1][1]
        self.color = self.new_color()
        self.allowed = [(0, [*old, self.color])]
        while True:
            connection = Connection(random.choice(replicas))
            try:
                status = await connection.purge(self.origin.url(self.name), "delete")
            except (OSError, EOFError):
                status = 0
            connection.close()
            if status == 200:
                break
            counts["purges refused"] += 1
            await asyncio.sleep(0.5)
        counts["purges"] += 1
        self.purged = time.time()
        self.allowed.append((self.purged + GRACE, [self.color]))

    def store_was_lost(self):
        if self.allowed[-1][0] > time.time() - LOSS + GRACE:
            self.allowed = [(0, [color for _, colors in self.allowed for color in colors])]


async def purge_again_and_again(sources, replicas, counts, ends):
    while time.time() < ends:
        await asyncio.sleep(random.uniform(0.1, 0.6))
        now = time.time()
        settled = [one for one in sources if one.allowed[-1][0] + GRACE < now or len(one.allowed[-1][1]) > 1]
        if settled:
            await random.choice(settled).purge(replicas, counts)
