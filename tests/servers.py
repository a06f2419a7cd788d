"""Database servers of our own, on loopback, for the length of a test module."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

Create = Callable[[str], str]  # a database by its name -> its address


class Missing(Exception):
    """No such server is installed; says how to get one."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def owner(preferred: str) -> str | None:
    """Servers refuse to run as root: who runs them then."""
    if os.geteuid() != 0:
        return None
    import pwd

    return preferred if preferred in {entry.pw_name for entry in pwd.getpwall()} else "nobody"


@contextmanager
def folder_of(user: str | None) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="hyperlens-db-"))
    if user is not None:
        shutil.chown(folder, user)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Restarting:
    """Creates databases on a server that can be stopped and started again."""

    create: Create
    restart: Callable[[], None]

    def __call__(self, name: str) -> str:
        return self.create(name)


@contextmanager
def postgresql() -> Iterator[Restarting]:
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve()] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))  # Debian's
    if not found:
        raise Missing("no PostgreSQL server is installed: apt-get install postgresql")
    programs, user, port = found[-1].parent, owner("postgres"), free_port()
    with folder_of(user) as folder:

        def call(program: str, *arguments: str) -> None:
            subprocess.run(
                [programs / program, *arguments],
                check=True,
                user=user,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C", "HOME": str(folder)},
                stdout=subprocess.DEVNULL,
            )

        def create(name: str) -> str:
            call("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "tester", name)
            return f"postgresql://tester@127.0.0.1:{port}/{name}"

        data = str(folder / "data")
        call("initdb", "-D", data, "-U", "tester", "-A", "trust", "-N", "-E", "UTF8")
        options = f"-F -c listen_addresses=127.0.0.1 -c port={port}"
        options += f" -c unix_socket_directories={folder}"
        call("pg_ctl", "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
        try:
            yield Restarting(
                create,
                lambda: call(
                    "pg_ctl", "-D", data, "-w", "-m", "fast", "-l", f"{folder}/log", "restart"
                ),
            )
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


@contextmanager
def mariadb() -> Iterator[Restarting]:
    server, setup = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if server is None or setup is None:
        raise Missing("no MariaDB server is installed: apt-get install mariadb-server")
    user, port = owner("mysql"), free_port()
    with folder_of(user) as folder:
        where = [f"--datadir={folder}/data"]
        known = "--auth-root-authentication-method=normal"
        subprocess.run(
            [setup, "--no-defaults", *where, known, "--skip-test-db"],
            check=True,
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        reached = ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={folder}/socket"]
        running: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            command = [server, "--no-defaults", *where, *reached, f"--pid-file={folder}/pid"]
            running.append(
                subprocess.Popen(
                    command,
                    user=user,
                    cwd=folder,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            _await(port, running[-1])

        def stop() -> None:
            running[-1].terminate()
            running[-1].wait(timeout=60)

        def restart() -> None:
            stop()
            start()

        def create(name: str) -> str:
            import pymysql

            with pymysql.connect(host="127.0.0.1", port=port, user="root") as connection:
                connection.cursor().execute(f"CREATE DATABASE {name}")
            return f"mysql://root@127.0.0.1:{port}/{name}"

        try:
            start()
            yield Restarting(create, restart)
        finally:
            stop()


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not begin to listen")


Server = Callable[[], AbstractContextManager[Restarting]]
SERVERS: dict[str, tuple[Server, str]] = {
    "postgresql": (postgresql, "psycopg"),
    "mariadb": (mariadb, "pymysql"),
}
