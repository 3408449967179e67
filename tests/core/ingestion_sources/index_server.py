"""A package index on 127.0.0.1, in the HTML of PEP 503 or the JSON of PEP 691."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def tar_of(files: Mapping[str, bytes | tarfile.TarInfo], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                content.name = name
                tar.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zip_of(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in files.items():
            pack.writestr(name, content)
    return out.getvalue()


@dataclass
class Index:
    projects: dict[str, dict[str, bytes]] = field(default_factory=dict)
    form: str = "json"
    url: str = ""
    digest: str = ""
    """Given instead of the true one; "none" gives none at all."""
    password: str = ""
    failures: int = 0
    """How many of the next requests are answered with 503."""
    drops: int = 0
    """How many of the next requests are broken off."""
    requests: list[str] = field(default_factory=list)

    def page(self, project: str) -> tuple[str, bytes]:
        files = self.projects[project]
        digests = {
            name: self.digest or hashlib.sha256(content).hexdigest() for name, content in files.items()
        }
        if self.form == "html":
            rows = [
                f'<a href="../../files/{name}{"" if digest == "none" else f"#sha256={digest}"}">{name}</a>'
                for name, digest in digests.items()
            ]
            return "text/html", f"<!DOCTYPE html><html><body>{'<br>'.join(rows)}</body></html>".encode()
        listed = [
            {
                "filename": name,
                "url": f"../../files/{name}",
                "hashes": {} if digest == "none" else {"sha256": digest},
                "size": len(files[name]),
            }
            for name, digest in digests.items()
        ]
        page = {"meta": {"api-version": "1.1"}, "name": project, "files": listed, "versions": []}
        return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()


@contextmanager
def serving(index: Index, certificate: Path | None = None) -> Iterator[Index]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.requests.append(self.path)
            expected = "Basic " + base64.b64encode(index.password.encode()).decode()
            if index.drops:
                index.drops -= 1
                self.close_connection = True
            elif index.failures:
                index.failures -= 1
                self.answer(503, "text/plain", b"busy")
            elif index.password and self.headers.get("Authorization") != expected:
                self.answer(401, "text/plain", b"who?")
            else:
                self.serve(self.path.strip("/").split("/"))

        def serve(self, parts: list[str]) -> None:
            match parts:
                case ["simple", project] if index.form == "page":
                    self.answer(200, "application/pdf", b"%PDF")
                case ["simple", project] if project in index.projects:
                    self.answer(200, *index.page(project))
                case ["files", name]:
                    content = next(files[name] for files in index.projects.values() if name in files)
                    self.answer(200, "application/octet-stream", content)
                case _:
                    self.answer(404, "text/plain", b"nothing here")

        def answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    index.url = f"{scheme}://127.0.0.1:{server.server_address[1]}/simple/"
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
