"""The processes of a fleet on one machine: replicas of kf-server, Redis, an S3 store, an origin. For bench-fleet."""
import atexit, contextlib, os, random, re, shutil, signal, socket, subprocess, sys, time, urllib.error, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TICKS = os.sysconf("SC_CLK_TCK")
PURGE_TOKEN = "bench"
running = set()


def end_all():
    for machine in list(running):
        machine.kill()


atexit.register(end_all)
# So that those who are told to end do it, too.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Network:
    """A network namespace with an address for each of several cables to this machine, which can be pulled."""

    def __init__(self, count):
        self.name = f"kf{os.getpid()}"
        self.addresses = [f"10.83.{number}.2" for number in range(count)]
        running.add(self)
        self.ip("netns", "add", self.name)
        for number in range(count):
            near, far = f"{self.name}-{number}", f"kf{number}"
            self.ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", self.name)
            self.ip("address", "add", f"10.83.{number}.1/24", "dev", near)
            self.ip("-n", self.name, "address", "add", f"10.83.{number}.2/24", "dev", far)
            self.ip("-n", self.name, "link", "set", far, "up")
            self.plug(number, True)

    @staticmethod
    def can_be_made():
        return os.geteuid() == 0 and shutil.which("ip") is not None

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)

    def plug(self, number, is_in):
        self.ip("link", "set", f"{self.name}-{number}", "up" if is_in else "down")

    def kill(self):
        running.discard(self)
        self.ip("netns", "del", self.name)


class Machine:
    """A process that listens on a port of its own, also after it was killed and started again."""
    listens, address = False, "127.0.0.1"

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        os.makedirs(folder, exist_ok=True)
        self.start()

    def start(self):
        arguments, environment = self.command()
        with open(f"{self.folder}.log", "a") as log:
            self.process = subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        running.add(self)
        for _ in range(1200):
            try:
                socket.create_connection((self.address, self.port)).close()
                self.listens = True
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        sys.exit(f"bench-fleet: {arguments[0]} does not listen\n{self.log()}")

    def log(self):
        """The end of what it has printed."""
        with open(f"{self.folder}.log") as log:
            return "".join(log.readlines()[-20:])

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.listens = False
        self.signal(signal.SIGKILL)
        self.process.wait()
        running.discard(self)


class Replica(Machine):
    """A kf-server with caches of its own; they outlive a restart."""

    def __init__(self, folder, **settings):
        self.settings = settings
        super().__init__(folder)

    def command(self):
        binary = os.environ.get("BENCH_SERVER_BIN") or subprocess.check_output(
            ["swift", "build", "-c", "release", "--package-path", f"{ROOT}/Server",
             "--scratch-path", f"{ROOT}/.build", "--show-bin-path"], text=True).strip()
        os.environ["BENCH_SERVER_BIN"] = binary
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("KF_", "IMGPROXY_"))}
        environment.update(
            XDG_CACHE_HOME=self.folder, NO_PROXY="127.0.0.1", KF_BIND=f"127.0.0.1:{self.port}", KF_LOG_LEVEL="error",
            KF_ALLOW_LOOPBACK_SOURCE_ADDRESSES="1", KF_TIMEOUT="60", KF_PURGE_TOKEN=PURGE_TOKEN,
            AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench", **self.settings)
        return [f"{binary}/kf-server"], environment

    def cpu(self):
        """Seconds of processor time so far, with those of its decoders."""
        pid, ticks, processes = self.process.pid, 0, [self.process.pid]
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                processes += open(f"/proc/{pid}/task/{task}/children").read().split()
        for one in processes:
            with contextlib.suppress(OSError):
                fields = open(f"/proc/{one}/stat").read().rsplit(")", 1)[1].split()
                # Of those that have ended, too, for which it has waited.
                ticks += sum(map(int, fields[11:15]))
        return ticks / TICKS

    def count(self, name, label):
        """A counter of the metrics, such as kf_results_total and "made"."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            found = re.search(rf'^{name}{{\w+="{label}"}} (\d+)', answer.read().decode(), re.MULTILINE)
        return int(found[1]) if found else 0

    def forget(self):
        """Empties its caches, while it is not running."""
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)


class Redis(Machine):
    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder,
                "--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru", "--loglevel", "warning"], None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def commands(self):
        """How many commands it has carried out, but for this question."""
        lines = subprocess.check_output(["redis-cli", "-p", str(self.port), "info", "commandstats"], text=True)
        return sum(map(int, re.findall(r"cmdstat_(?!info).*:calls=(\d+)", lines)))


class DistantRedis(Redis):
    """Redis at the other end of a network's cables."""

    def __init__(self, folder, network):
        self.network, self.address = network, network.addresses[0]
        super().__init__(folder)

    def command(self):
        arguments, environment = super().command()
        bind = arguments.index("--bind")
        arguments[bind + 1:bind + 2] = self.network.addresses
        return ["ip", "netns", "exec", self.network.name, *arguments, "--protected-mode", "no"], environment

    def urls(self):
        """One for each cable."""
        return [f"redis://{address}:{self.port}" for address in self.network.addresses]


class Store(Machine):
    """moto, an S3 store in Python; slow, and good enough to count makings."""

    # Scripts/tier-engines puts it there.
    path = os.pathsep.join([f"{ROOT}/.build/python", os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    environment = dict(os.environ, PYTHONPATH=path)

    @classmethod
    def is_installed(cls):
        return subprocess.run(["python3", "-c", "import moto.server"], env=cls.environment, capture_output=True).returncode == 0

    def command(self):
        program = "from moto.server import main; main()"
        return ["python3", "-c", program, "-H", "127.0.0.1", "-p", str(self.port)], self.environment

    def start(self):
        super().start()
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}/images", method="PUT")).close()

    @property
    def url(self):
        return f"s3://images/bench?endpoint=http://127.0.0.1:{self.port}"


class Origin(Machine):
    """nginx with the sources; by /slow/WORD/ they have another URL for each word, and take about a second to arrive."""

    def command(self):
        configuration = f"{self.folder}/nginx.conf"
        with open(configuration, "w") as file:
            file.write(f"""
                daemon off; worker_processes 1; pid {self.folder}/pid; error_log stderr crit;
                {"user root;" if os.geteuid() == 0 else ""}
                events {{ worker_connections 1024; }}
                http {{
                    access_log {self.folder}/log; client_body_temp_path {self.folder}/body;
                    proxy_temp_path {self.folder}/proxy; fastcgi_temp_path {self.folder}/fastcgi;
                    scgi_temp_path {self.folder}/scgi; uwsgi_temp_path {self.folder}/uwsgi;
                    types {{ image/jpeg jpg; image/png png; }}
                    server {{
                        listen 127.0.0.1:{self.port};
                        root {self.folder}/images;
                        location ~ ^/slow/[a-z0-9]+/(.*)$ {{ alias {self.folder}/images/$1; limit_rate 300k; }}
                    }}
                }}""")
        return ["nginx", "-p", self.folder, "-c", configuration, "-e", "stderr"], None

    def kill(self):
        # Its worker ends with it only if it is asked to.
        self.signal(signal.SIGTERM)
        self.process.wait()
        running.discard(self)

    def requests(self):
        """How many requests it has answered."""
        with open(f"{self.folder}/log") as file:
            return sum(1 for _ in file)

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"


def photo(seed, width=2400, height=1600):
    """Noise of many scales; as a JPEG half a megabyte for 2.5 megapixels, as photos of this size are."""
    from PIL import Image, ImageChops
    random.seed(seed)
    image = Image.new("RGB", (width, height), (128, 128, 128))
    for step, strength in [(2, 5), (4, 8), (8, 24), (16, 24), (32, 24), (64, 24), (128, 24)]:
        size = (width // step + 2, height // step + 2)
        layers = [Image.effect_noise(size, strength).resize((width, height), Image.BICUBIC) for _ in range(3)]
        image = ImageChops.add(image, Image.merge("RGB", layers), offset=-128)
    return image


def write_photos(folder, count):
    """Distinct parts of photos, of 0.5 to 2.5 megapixels."""
    os.makedirs(folder, exist_ok=True)
    for index in range(count):
        if index % 250 == 0:
            whole = photo(index)
        width = random.randrange(870, 1941)
        height = width * 2 // 3
        x, y = random.randrange(2400 - width), random.randrange(1600 - height)
        whole.crop((x, y, x + width, y + height)).save(f"{folder}/{index}.jpg", quality=85)
