"""A home with two uplinks and its gateway: real daemons in namespaces, and a browser's way to the home's page."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

# An uplink may have any name that the kernel takes.
HOSTILE = "<script>"

# Inside the namespaces, whose first process takes all others along. The home's downloads come from the gateway itself.
SCRIPT = r"""
set -e
mount -t tmpfs none /run
mount -t tmpfs none /var/lib
ip link set lo up
unshare --net sleep 600 & gateway=$!
until [ "$(readlink /proc/$gateway/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
far() { nsenter --target $gateway --net "$@"; }
n=1
for device in wan0 "$HOSTILE"; do
  ip link add "$device" type veth peer name eth$n netns $gateway
  ip address add 10.$n.0.2/24 dev "$device"; ip link set "$device" up
  far ip address add 10.$n.0.1/24 dev eth$n; far ip link set eth$n up
  n=$((n + 1))
done
far ip link set lo up
far ip address add 192.0.2.1/32 dev lo
far ip address add 203.0.113.1/32 dev lo
ip route add default via 10.1.0.1 dev wan0
invitation=$("$PRISMUX" invite house --endpoint 192.0.2.1:51820 --config gateway.toml)
"$PRISMUX" join "$invitation" --config home.toml --uplink wan0,10.1.0.1 --uplink "$HOSTILE,10.2.0.1"
sed -i 's/^role = "gateway"/&\nnat = false/' gateway.toml
sed -i "s/^role = \"home\"/&\nshare = false/; s/127.0.0.1:9587/127.0.0.1:$PORT/" home.toml
eval "$PREPARE"
far "$PRISMUX" up --config gateway.toml & "$PRISMUX" up --config home.toml $HOME_OPTIONS & home=$!
far "$PYTHON" "$RELAY" send 203.0.113.1 4717 &
# A connection opened before goes on beside the tunnels, over the uplink that it has.
until ip route get 203.0.113.1 | grep -q prism0; do kill -0 $home; sleep 0.02; done
"$PYTHON" "$RELAY" receive 203.0.113.1 4717 &
"$PYTHON" "$RELAY" page page.socket "$PORT" &
until [ -S page.socket ]; do sleep 0.02; done
echo ready
while read -r line; do
  eval "$line"
  echo done
done
"""


class PageLab:
    """The daemons, while the block lasts. `url` is where a browser on this host finds the home's page. `prepare` is run
    when the daemons' files are written."""

    def __init__(self, program: Path, folder: Path, prepare: str = "") -> None:
        # The name of a page's host has its port: the same inside and outside.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            way = [sys.executable, __file__, "way", str(listener.fileno()), str(folder / "page.socket")]
            self.way = subprocess.Popen(way, pass_fds=[listener.fileno()])
        self.url = f"http://127.0.0.1:{port}/"
        self.folder, self.log = folder, folder / "log"
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            command.append("--map-root-user")
        mine = {"PRISMUX": program, "PYTHON": sys.executable, "RELAY": __file__, "PORT": port, "HOSTILE": HOSTILE}
        mine["PREPARE"] = prepare
        environment = {**os.environ, **{name: str(value) for name, value in mine.items()}}
        pipe = subprocess.PIPE
        with self.log.open("w") as log:
            self.inside = subprocess.Popen(
                [*command, "bash", "-c", SCRIPT],
                cwd=folder,
                env=environment,
                stdin=pipe,
                stdout=pipe,
                stderr=log,
                text=True,
            )

    def __enter__(self) -> "PageLab":
        try:
            self._wait_for("ready")
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.way, self.inside):
            process.kill()
            process.communicate()

    def kill_home(self) -> None:
        """Ends the home's daemon on the spot."""
        self.run("kill -KILL $home")

    def run(self, line: str) -> str:
        """What a line of shell prints inside, in the folder of the daemons' files."""
        assert self.inside.stdin is not None
        self.inside.stdin.write(f"{{ {line}; }} > said\n")
        self.inside.stdin.flush()
        self._wait_for("done")
        return (self.folder / "said").read_text()

    def _wait_for(self, word: str) -> None:
        assert self.inside.stdout is not None
        for line in self.inside.stdout:
            if line.strip() == word:
                return
        raise AssertionError(self.log.read_text())


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def join(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connect: Callable[[], Awaitable[Ends]]
) -> None:
    """Carries what comes on one connection to another, and back, until both have ended."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    try:
        far_reader, far_writer = await connect()
    except OSError:
        writer.close()
        return
    await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer), return_exceptions=True)
    far_writer.close()
    writer.close()


async def way(descriptor: str, path: str) -> None:
    """Outside: from a listening socket of this process to one in a folder."""
    listener = socket.socket(fileno=int(descriptor))
    server = await asyncio.start_server(
        lambda r, w: join(r, w, lambda: asyncio.open_unix_connection(path)), sock=listener
    )
    await server.serve_forever()


async def page(path: str, port: str) -> None:
    """Inside: from a socket in a folder to the page."""
    server = await asyncio.start_unix_server(
        lambda r, w: join(r, w, lambda: asyncio.open_connection("127.0.0.1", int(port))), path
    )
    await server.serve_forever()


async def ask(path: str, text: str) -> None:
    """Inside: what the status socket tells, or, with a text, what is answered to that command."""
    kind = socket.SOCK_DGRAM if text else socket.SOCK_STREAM
    with socket.socket(socket.AF_UNIX, kind) as asker:
        asker.settimeout(10)
        if text:
            own = f"/run/asker.{os.getpid()}"
            asker.bind(own)
            asker.sendto(text.encode(), path)
            print(asker.recv(65536).decode())
            os.unlink(own)
        else:
            asker.connect(path)
            while block := asker.recv(65536):
                print(block.decode(), end="")


async def send(host: str, port: str) -> None:
    """Inside, at the gateway: some 16 Mbit/s to whoever asks."""

    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(bytes(100_000))
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(pour, host, int(port))
    await server.serve_forever()


async def receive(host: str, port: str) -> None:
    """Inside, at home: takes what is sent, and asks again when nothing comes any more."""
    while True:
        try:
            reader, _ = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 2)
            while await asyncio.wait_for(reader.read(65536), 5):
                pass
        except (OSError, TimeoutError):
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    asyncio.run({"way": way, "page": page, "ask": ask, "send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:]))
