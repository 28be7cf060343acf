"""A connection to Redis that holds its packets now and then. For bench-fleet."""
import asyncio, random, threading

from .machines import free_port


class Stalls:
    """Forwards connections from a port of its own, in a thread of its own; each direction stands still by chance."""

    def __init__(self, target):
        self.target, self.port, self.count = target, free_port(), 0
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    async def serve(self, ready):
        server = await asyncio.start_server(self.forward, "127.0.0.1", self.port)
        ready.set()
        await server.serve_forever()

    async def forward(self, reader, writer):
        try:
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return writer.close()
        await asyncio.gather(self.copy(reader, target_writer), self.copy(target_reader, writer))

    async def copy(self, reader, writer):
        try:
            while data := await reader.read(65536):
                if random.random() < 0.002:
                    self.count += 1
                    await asyncio.sleep(random.choice([0.1, 0.3, 0.9, 2]))
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()
