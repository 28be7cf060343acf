"""Asks servers for images, over connections that are kept. For bench-fleet."""
import asyncio, json, re, time

from .machines import PURGE_TOKEN


class Connection:
    """A connection to a server; made when it is needed, and again after it failed or the server was started again."""

    def __init__(self, replica):
        self.replica, self.process, self.writer = replica, None, None

    async def ask(self, path, method="GET", fields="", body=b""):
        """Status and body; OSError or EOFError without an answer."""
        if self.process is not self.replica.process:
            self.close()
        try:
            if self.writer is None:
                self.process = self.replica.process
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.replica.port)
            head = f"{method} {path} HTTP/1.1\r\nHost: a\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
            self.writer.write(head.encode() + body)
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"content-length: *(\d+)", head, re.IGNORECASE)
            return int(head[9:12]), await self.reader.readexactly(int(length[1]) if length else 0)
        except (OSError, EOFError):
            self.close()
            raise

    async def purge(self, source, mode):
        fields = f"Authorization: Bearer {PURGE_TOKEN}\r\n"
        body = json.dumps({"source": source, "mode": mode}).encode()
        return (await self.ask("/purge", "POST", fields, body))[0]

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None


def path(source, options="rs:fill:300:200", ending="jpg"):
    return f"/_/{options}/plain/{source}@{ending}"


async def ask_all(replica, paths, connections):
    """Asks for all paths in their order, so many at a time; the seconds that each took, and how many were not a 200."""
    rest, seconds, failed = iter(paths), [], 0

    async def work():
        nonlocal failed
        connection = Connection(replica)
        for one in rest:
            began = time.perf_counter()
            status, _ = await connection.ask(one)
            seconds.append(time.perf_counter() - began)
            failed += status != 200
        connection.close()

    await asyncio.gather(*(work() for _ in range(connections)))
    return seconds, failed


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]
