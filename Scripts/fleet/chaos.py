"""Kills and stops what a fleet consists of, while clients purge, and compare the colour of each answer. For bench-fleet."""
import asyncio, collections, random, signal, time

from .client import Connection, path
from .colors import color, is_near, write_color
from .purges import Purged, purge_again_and_again


async def disturb(replicas, redis, origin, seconds):
    """What was done, and how requests were answered."""
    steps = [25, 75, 125, 175, 225]
    colors = {f"{r}-{g}-{b}.png": (r, g, b) for r in steps for g in steps for b in steps}
    for name, value in colors.items():
        write_color(origin, name, value, 400)
    purged = [Purged(origin, f"purged{number}.png") for number in range(60)]
    counts = collections.Counter()
    ends = time.time() + seconds

    def keep_metrics(replica):
        """Those of a process end with it."""
        counts["made"] += replica.count("kf_results_total", "made")
        counts["hits"] += replica.count("kf_tier_total", "hit")

    async def client():
        connections = [Connection(replica) for replica in replicas]
        while time.time() < ends:
            connection, (name, value) = random.choice(connections), random.choice(list(colors.items()))
            changing = random.choice(purged) if random.random() < 0.3 else None
            name, began = changing.name if changing else name, time.time()
            process = connection.replica.process if connection.replica.listens else None
            # So few that each is asked for again: made, in memory, on disk, and in Redis when a disk was emptied.
            size, ending = f"{random.randrange(20, 120, 20)}:{random.choice([20, 40])}", random.choice(["jpg", "png", "webp"])
            try:
                status, body = await connection.ask(path(origin.url(name), f"rs:force:{size}", ending))
            except (OSError, EOFError):
                # A killed replica does not answer; one that runs does.
                counts["cut" if process is None or process.poll() is not None else "other"] += 1
                await asyncio.sleep(0.05)
                continue
            if status == 200:
                found = color(body)
                if changing and not changing.allows(found, began):
                    counts["undone"] += 1
                elif not changing and not is_near(found, value):
                    counts["wrong"] += 1
                else:
                    counts["right"] += 1
            else:
                counts["5xx" if status >= 500 else "other"] += 1

    async def kill_replicas():
        while time.time() < ends:
            await asyncio.sleep(random.uniform(0.5, 5))
            replica, empties = random.choice(replicas), random.random() < 0.5
            await asyncio.to_thread(keep_metrics, replica)
            replica.kill()
            await asyncio.sleep(random.uniform(0, 2))
            if empties:
                replica.forget()
            await asyncio.to_thread(replica.start)
            counts["kills"] += 1
            counts["emptied"] += empties

    async def disturb_redis():
        while time.time() < ends:
            await asyncio.sleep(random.uniform(2, 12))
            if random.random() < 0.5:
                redis.signal(signal.SIGSTOP)
                await asyncio.sleep(random.choice([0.1, 0.4, 3, 8]))
                redis.signal(signal.SIGCONT)
                counts["hangs"] += 1
            else:
                redis.kill()
                for source in purged:
                    source.store_was_lost()
                await asyncio.sleep(random.uniform(0, 5))
                await asyncio.to_thread(redis.start)
                counts["deaths"] += 1

    purging = [purge_again_and_again(purged[turn::3], replicas, counts, ends) for turn in range(3)]
    await asyncio.gather(kill_replicas(), disturb_redis(), *purging, *(client() for _ in range(12)))
    for replica in replicas:
        keep_metrics(replica)
    return counts
