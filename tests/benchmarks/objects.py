"""What faults of an object store cost: a trace ingested from it, and a store in it asked.

A server of S3 on this machine fails as real ones do; see `tests/remote`.

    python tests/benchmarks/objects.py TRACE
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from tests.remote.conftest import BUCKET, Fault, Faulty, Request, served

ROOT = Path(__file__).resolve().parents[2]
#: Of each part of an object, what happens when it is asked for first.
FAULTS = ("none", "503", "cut")
QUESTION = ("kernels", "big", "--top", "1")


def main() -> None:
    """Print a row for each fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trace", type=Path)
    trace = parser.parse_args().trace
    with server() as faulty, tempfile.TemporaryDirectory() as folder:
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        client.upload_file(str(trace), BUCKET, trace.name)
        url, store = f"s3://{BUCKET}/{trace.name}", f"s3://{BUCKET}/S"
        run("ingest", str(trace), "--run", "big", "--store", store)
        print("fault  what     exit status  time [s]  requests  bytes given / size")
        for fault in FAULTS:
            words = ("ingest", url, "--store", f"{folder}/{fault}")
            told(fault, "ingest", faulty, trace.stat().st_size, words)
            told(fault, "kernels", faulty, size_of(client, "S/"), (*QUESTION, "--store", store))


@contextmanager
def server() -> Iterator[Faulty]:
    """A server, and the variables by which libraries reach it."""
    faulty = Faulty(DomainDispatcherApplication(create_backend_app), cut_after=1 << 15)
    with served(faulty) as url:
        os.environ |= {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        yield faulty


def told(fault: str, what: str, faulty: Faulty, size_bytes: int, words: tuple[str, ...]) -> None:
    """Run a command while the server has a fault, and print what that took."""
    faulty.requests.clear()
    faulty.fault = first_of_each(fault)
    start = time.monotonic()
    status = run(*words)
    took = time.monotonic() - start
    faulty.fault = lambda _: None
    asked = faulty.contents()
    ratio = sum(request.given_bytes for request in asked) / size_bytes
    print(
        f"{fault:5}  {what:7}  {status:11}  {took:8.1f}  {len(asked):8}  {ratio:18.2f}", flush=True
    )


def run(*words: str) -> int:
    """Run a command of tracekit; its exit status."""
    command = [sys.executable, "-m", "tracekit", *words]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode


def first_of_each(word: str) -> Fault:
    """A fault of the first request for each range of an object."""
    seen: set[tuple[str, str]] = set()

    def fault(request: Request) -> str | None:
        asked = (request.path, request.asked)
        if word == "none" or request.method != "GET" or not request.asked or asked in seen:
            return None
        seen.add(asked)
        return word

    return fault


def size_of(client: Any, prefix: str) -> int:
    """How large the objects with a prefix are."""
    listed = client.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
    return sum(each["Size"] for each in listed["Contents"])


if __name__ == "__main__":
    main()
