"""Real database servers, each with files of its own in a temporary folder and a free port of this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

USER, PASSWORD, DATABASE = "shoal", "a secret: pass/word", "registry"
ADMIN = "keeper"
"""The superuser of PostgreSQL; the user of the tests has no rights beyond the database."""


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    scheme: str

    @property
    def address(self) -> str:
        """The address of its database, without the password."""
        return f"{self.scheme}://{USER}@127.0.0.1:{self.port}/{DATABASE}"


def find_program(name: str) -> str | None:
    """Return the path of a server's program; Debian keeps those of PostgreSQL beside the search path."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return next((str(path) for path in beside), None) or shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")


def free_port() -> int:
    """Return a port nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def own_folder(user: str) -> Iterator[Path]:
    """Give a folder for the files of a server that does not run as root."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-server-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, user)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_user(user: str, command: list[str]) -> list[str]:
    """Return a command that runs as a user who is not root: these servers refuse to run as root."""
    return ["runuser", "-u", user, "--", *command] if os.geteuid() == 0 else command


@contextlib.contextmanager
def postgresql() -> Iterator[Server]:
    """Give a cluster of PostgreSQL that asks for a password."""
    initdb, server, control = (find_program(name) for name in ("initdb", "postgres", "pg_ctl"))
    if not (initdb and server and control):
        raise FileNotFoundError("PostgreSQL is not installed")
    with own_folder("postgres") as folder:
        data, port = folder / "data", free_port()
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            shutil.chown(secret, "postgres")
        access = ["-U", ADMIN, "--auth=scram-sha-256", f"--pwfile={secret}"]
        subprocess.run(
            as_user("postgres", [initdb, "-D", str(data), "-E", "UTF8", *access]),
            check=True,
            capture_output=True,
            cwd=folder,
        )
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        start = [control, "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start"]
        subprocess.run(as_user("postgres", start), check=True, cwd=folder, stdout=subprocess.DEVNULL)
        try:
            found = Server(port, "postgresql")
            _psql(found, "postgres", f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'")
            _psql(found, "postgres", f"CREATE DATABASE {DATABASE} OWNER {USER}")
            yield found
        finally:
            stop = [control, "-D", str(data), "-m", "immediate", "-w", "stop"]
            subprocess.run(as_user("postgres", stop), check=True, capture_output=True, cwd=folder)


def _psql(server: Server, database: str, text: str) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    keys = {"password": PASSWORD.replace("%", "%25").replace(" ", "%20").replace("/", "%2F").replace(":", "%3A")}
    address = f"postgresql://{ADMIN}:{keys['password']}@127.0.0.1:{server.port}/{database}"
    with adbc.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(text)


@contextlib.contextmanager
def mariadb() -> Iterator[Server]:
    """Give a server of MariaDB that asks for a password."""
    install, server = find_program("mariadb-install-db"), find_program("mariadbd")
    if not (install and server):
        raise FileNotFoundError("MariaDB is not installed")
    with own_folder("mysql") as folder:
        data, port, socket_file = folder / "data", free_port(), folder / "socket"
        make = [
            install,
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--no-defaults",
        ]
        subprocess.run(as_user("mysql", [make[0], "--no-defaults", *make[1:-1]]), check=True, capture_output=True)
        options = [f"--datadir={data}", f"--port={port}", f"--socket={socket_file}", "--bind-address=127.0.0.1"]
        options += [f"--pid-file={folder / 'pid'}", "--innodb-flush-log-at-trx-commit=0"]
        running = subprocess.Popen(
            as_user("mysql", [server, "--no-defaults", *options]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait_for(socket_file)
            _prepare_mariadb(socket_file)
            yield Server(port, "mysql+pymysql")
        finally:
            running.terminate()
            running.wait()


def _wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    raise TimeoutError(f"{path.name} did not appear")


def _prepare_mariadb(socket_file: Path) -> None:
    import pymysql

    with pymysql.connect(unix_socket=str(socket_file), user="root") as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {DATABASE}")
        cursor.execute(f"CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}'")
        cursor.execute(f"GRANT ALL ON {DATABASE}.* TO '{USER}'@'%'")
        connection.commit()
