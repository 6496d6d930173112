"""Servers of S3 and of plain files on this machine, which can fail in the ways real ones do."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.utils import send_from_directory

from tracekit import objects

BUCKET = "traces"
SECRET = "verysecretkey"


@dataclass
class Request:
    """What was asked of a server, and how much of the answer was given."""

    method: str
    path: str
    query: str
    asked: str  # the range
    given_bytes: int = 0
    is_cut: bool = False

    @property
    def start(self) -> int | None:
        """The first byte that was asked for."""
        return int(self.asked[len("bytes=") :].split("-")[0]) if self.asked else None


ERRORS = {
    "403": ("403 Forbidden", "AccessDenied"),
    "404": ("404 Not Found", "NoSuchKey"),
    "503": ("503 Slow Down", "SlowDown"),
}
#: What goes wrong with a request: a status, "cut" or "slow".
Fault = Callable[[Request], "str | None"]


@dataclass
class Faulty:
    """Answers like `app`, except where there is a fault."""

    app: Any
    requests: list[Request] = field(default_factory=list)
    fault: Fault = lambda _: None
    cut_after: int = 1 << 20
    has_ranges: bool = True

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        request = Request(
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"],
            environ.get("QUERY_STRING", ""),
            environ.get("HTTP_RANGE", ""),
        )
        self.requests.append(request)
        if not self.has_ranges:
            environ.pop("HTTP_RANGE", None)
        fault = self.fault(request)
        if fault in ERRORS:
            status, code = ERRORS[fault]
            start(status, [("Content-Type", "application/xml")])
            if request.method == "HEAD":
                return []
            return [f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()]
        return self._given(request, self.app(environ, start), fault)

    def _given(
        self, request: Request, parts: Iterable[bytes], fault: str | None
    ) -> Iterator[bytes]:
        with ExitStack() as closing:
            if hasattr(parts, "close"):
                closing.callback(parts.close)
            for piece in _pieces(parts, min(self.cut_after, 1 << 16)):
                if fault == "cut" and request.given_bytes >= self.cut_after:
                    request.is_cut = True
                    return
                if fault == "slow":
                    time.sleep(0.5)
                request.given_bytes += len(piece)
                yield piece

    def contents(self) -> list[Request]:
        """The requests for the content of objects."""
        return [r for r in self.requests if r.method == "GET" and r.path.count("/") > 1]


def _pieces(parts: Iterable[bytes], size: int) -> Iterator[bytes]:
    for part in parts:
        for place in range(0, len(part), size):
            yield part[place : place + size]


class Quiet(WSGIRequestHandler):
    """Tells nothing of requests."""

    def log(self, *_: Any, **__: Any) -> None:
        pass


@dataclass
class S3:
    """A server with one bucket."""

    faulty: Faulty
    url: str
    client: Any

    def put(self, name: str, content: bytes | Path) -> str:
        """Write an object; its URL."""
        body = content.read_bytes() if isinstance(content, Path) else content
        self.client.put_object(Bucket=BUCKET, Key=name, Body=body)
        return f"s3://{BUCKET}/{name}"


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The URL of an application that is served meanwhile."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def _server() -> Iterator[S3]:
    faulty = Faulty(DomainDispatcherApplication(create_backend_app))
    with served(faulty) as url:
        client = boto3.client(
            "s3",
            endpoint_url=url,
            aws_access_key_id="key",
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )
        client.create_bucket(Bucket=BUCKET)
        yield S3(faulty, url, client)
        client.close()


@pytest.fixture
def s3(_server: S3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[S3]:
    """The server, sound and without objects, with what the library needs to reach it."""
    for listed in _server.client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        _server.client.delete_object(Bucket=BUCKET, Key=listed["Key"])
    _server.faulty.requests.clear()
    for name in [name for name in os.environ if name.startswith(("AWS_", "FSSPEC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", _server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    objects._file_system.cache_clear()
    yield _server
    _server.faulty.fault, _server.faulty.cut_after = lambda _: None, 1 << 20
    objects._file_system.cache_clear()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further attempts come without a pause."""
    monkeypatch.setattr(objects, "_PAUSES_S", (0.0,) * 4)


@dataclass
class Web:
    """A server of the files in a folder; with ranges, it tells when a file was written."""

    faulty: Faulty
    url: str
    folder: Path


@contextmanager
def _web(app: Any, folder: Path) -> Iterator[Web]:
    faulty = Faulty(app)
    folder.mkdir()
    objects._file_system.cache_clear()
    with served(faulty) as url:
        yield Web(faulty, url, folder)
        objects._file_system.cache_clear()


@pytest.fixture
def ranged(tmp_path: Path) -> Iterator[Web]:
    """A server with ranges."""
    folder = tmp_path / "ranged"

    def app(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        name = environ["PATH_INFO"].rpartition("/")[2]
        response = send_from_directory(folder, name, environ, conditional=True)
        return response(environ, start)

    with _web(app, folder) as web:
        yield web


@pytest.fixture
def streaming(tmp_path: Path) -> Iterator[Web]:
    """A server that gives all of a file at once, without a length."""
    folder = tmp_path / "streaming"

    def app(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        content = (folder / environ["PATH_INFO"].rpartition("/")[2]).read_bytes()
        start("200 OK", [("Content-Type", "application/octet-stream")])
        return [content] if environ["REQUEST_METHOD"] == "GET" else []

    with _web(app, folder) as web:
        yield web


class _Files(SimpleHTTPRequestHandler):
    """Files of a folder, without ranges, as Python's server gives them."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The URL of a server without ranges, and its folder."""
    folder = tmp_path / "web"
    folder.mkdir()

    def handler(*args: Any) -> _Files:
        return _Files(*args, directory=str(folder))

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        objects._file_system.cache_clear()
        try:
            yield f"http://127.0.0.1:{server.server_port}", folder
        finally:
            objects._file_system.cache_clear()
            server.shutdown()
            thread.join()
