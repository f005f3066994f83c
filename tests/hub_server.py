"""A double of the Hugging Face Hub's endpoints, as far as the client uses them for a release: a real HTTP server in a thread."""

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

TOKEN = "hf_secretsecretsecret"
NAME = r"/api/datasets/([\w.-]+/[\w.-]+)"
ROUTES = {
    r"POST /api/repos/create": "create_repo",
    r"POST /api/validate-yaml": "validate",
    rf"GET {NAME}": "info",
    rf"GET {NAME}/revision/(.+)": "info",
    rf"GET {NAME}/refs": "refs",
    rf"GET {NAME}/tree/([^/]+)": "tree",
    rf"POST {NAME}/preupload/(.+)": "preupload",
    rf"POST {NAME}/commit/(.+)": "make_commit",
    rf"POST {NAME}/tag/(.+)": "tag",
    r"POST /datasets/([\w.-]+/[\w.-]+)\.git/info/lfs/objects/batch": "batch",
    r"PUT /_lfs/(\w+)": "upload",
    r"(?:GET|HEAD) /datasets/([\w.-]+/[\w.-]+)/resolve/([^/]+)/(.+)": "resolve",
}


class RefusalError(Exception):
    def __init__(self, status, code=""):
        super().__init__(status)
        self.status, self.code = status, code


class Hub(ThreadingHTTPServer):
    """What it holds (``repos``, ``store``), was asked (``requests``) and will do wrong (``fail``)."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos, self.store, self.requests, self.faults = {}, {}, [], {}
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def fail(self, **faults):
        """``fail(commit=[500])``: the next request whose line holds "/commit" is answered so; or never, if "hang"."""
        self.faults = {f"/{name}": answers for name, answers in faults.items()}

    def repo(self, name):
        if name not in self.repos:
            raise RefusalError(404, "RepoNotFound")
        return self.repos[name]

    def files(self, name, revision):
        """The commit that a revision names, and its files."""
        repo = self.repo(name)
        sha = repo["branches"].get(revision) or repo["tags"].get(revision) or revision
        if sha not in repo["commits"]:
            raise RefusalError(404, "RevisionNotFound")
        return sha, repo["commits"][sha]["files"]

    def commit(self, repo, branch, files, message, parent):
        sha = hashlib.sha1(json.dumps([message, parent, sorted(files.items())]).encode()).hexdigest()
        repo["commits"][sha] = {"files": files, "parent": parent, "message": message}
        repo["branches"][branch] = sha
        return sha

    def keep(self, data):
        digest = hashlib.sha256(data).hexdigest()
        self.store[digest] = data
        return digest


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hub(self):
        return self.server

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.route(f"{self.command} {unquote(self.path.split('?')[0])}", body)
        except RefusalError as refusal:
            self.send(refusal.status, {"error": f"{self.headers.get('Authorization')} refused"}, {"X-Error-Code": refusal.code})

    def route(self, asked, body):
        with self.hub.lock:
            self.hub.requests.append(asked)
            fault = next((faults.pop(0) for part, faults in self.hub.faults.items() if part in asked and faults), None)
        if fault == "hang":
            threading.Event().wait(60)
            return
        if fault:
            raise RefusalError(fault)
        if "/_lfs/" not in asked and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise RefusalError(401)
        for pattern, name in ROUTES.items():
            if match := re.fullmatch(pattern, asked):
                with self.hub.lock:
                    getattr(self, name)(body, *match.groups())
                return
        raise RefusalError(404)

    do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815

    def send(self, status, data=None, headers=None):
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def create_repo(self, body):
        asked = json.loads(body)
        name = f"{asked['organization']}/{asked['name']}"
        there = name in self.hub.repos
        if not there:
            repo = self.hub.repos[name] = {"branches": {}, "tags": {}, "commits": {}, "visibility": asked.get("visibility")}
            self.hub.commit(repo, "main", {".gitattributes": self.hub.keep(b"*.parquet lfs\n")}, "initial commit", None)
        self.send(409 if there else 200, {"url": f"{self.hub.url}/datasets/{name}", "name": name, "id": name})

    def validate(self, _):
        self.send(200, {"errors": [], "warnings": []})

    def info(self, _, name, revision="main"):
        sha, files = self.hub.files(name, revision)
        self.send(200, {"id": name, "sha": sha, "siblings": [{"rfilename": path} for path in files], "private": False, "tags": []})

    def refs(self, _, name):
        repo = self.hub.repo(name)
        tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": sha} for tag, sha in repo["tags"].items()]
        self.send(200, {"branches": [], "tags": tags, "converts": []})

    def tree(self, _, name, revision):
        _, files = self.hub.files(name, revision)
        self.send(200, [{"type": "file", "path": path, "oid": oid, "size": len(self.hub.store[oid])} for path, oid in files.items()])

    def resolve(self, _, name, revision, path):
        sha, files = self.hub.files(name, revision)
        if path not in files:
            raise RefusalError(404, "EntryNotFound")
        self.send(200, self.hub.store[files[path]], {"ETag": f'"{files[path]}"', "X-Repo-Commit": sha})

    def preupload(self, body, name, revision):
        _, files = self.hub.files(name, revision)
        paths = [file["path"] for file in json.loads(body)["files"]]
        modes = {path: "lfs" if path.endswith(".parquet") else "regular" for path in paths}
        about = [{"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": self.oid(files, path)} for path, mode in modes.items()]
        self.send(200, {"files": about})

    def oid(self, files, path):
        """Of LFS files the SHA-256, of others git's blob hash, as the Hub tells them."""
        if path not in files or path.endswith(".parquet"):
            return files.get(path)
        data = self.hub.store[files[path]]
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()

    def batch(self, body, _):
        objects = json.loads(body)["objects"]
        for file in objects:
            if file["oid"] not in self.hub.store:
                file["actions"] = {"upload": {"href": f"{self.hub.url}/_lfs/{file['oid']}"}}
        self.send(200, {"transfer": "basic", "objects": objects})

    def upload(self, body, oid):
        if self.hub.keep(body) != oid:
            raise RefusalError(400)
        self.send(200, {})

    def make_commit(self, body, name, branch):
        header, *lines = (json.loads(line) for line in body.splitlines())
        parent, files = self.hub.files(name, branch)
        if header["value"].get("parentCommit", parent) != parent:
            raise RefusalError(412)
        files = dict(files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = self.hub.keep(base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.hub.store:
                    raise RefusalError(422)
                files[value["path"]] = value["oid"]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        sha = self.hub.commit(self.hub.repo(name), branch, files, header["value"]["summary"], parent)
        self.send(200, {"commitUrl": f"{self.hub.url}/datasets/{name}/commit/{sha}", "commitOid": sha})

    def tag(self, body, name, revision):
        tags, asked = self.hub.repo(name)["tags"], json.loads(body)
        if asked["tag"] in tags:
            raise RefusalError(409)
        tags[asked["tag"]], _ = self.hub.files(name, revision)
        self.send(200, {})


@contextmanager
def serving():
    with Hub() as hub:
        threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield hub
        finally:
            hub.shutdown()
