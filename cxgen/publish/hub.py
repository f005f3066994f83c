"""The Hugging Face Hub: one commit that holds the whole release, then its tag. Uploads, retries and token are the hub library's work."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cxgen import layout
from cxgen.errors import CxgenError, DataError, needs, some
from cxgen.files import read_json

_KIND = {"repo_type": "dataset"}
_LATER = "what was uploaded is kept"
_STATUS = {
    400: ("the Hub does not accept the release (400)", "check the card's metadata: outputs/hub/README.md"),
    401: ("the Hub does not know the token (401)", "run `hf auth login`, or set HF_TOKEN"),
    403: ("the token may not write to {repository} (403)", "use a token with the right to write there"),
    404: ("{repository} has no {branch} (404), or the token may not see it", "check the name; run `hf auth login`"),
    413: ("the release is too large for one request (413)", "lower publish.shard_rows in params.yaml, or ask the Hub for more space"),
    429: ("the Hub asks for fewer requests (429), also after waiting", f"wait some minutes and try again; {_LATER}"),
}


class HubError(CxgenError):
    """The Hub refused, or failed."""


@dataclass(frozen=True)
class Target:
    """Where a release goes: OWNER/NAME, the branch that gets the commit, its tag."""

    repository: str
    branch: str = "main"
    tag: str = ""
    private: bool = False  # if it has to be made
    parent: str = ""  # the commit that the branch must be at, or empty: where it is
    replace: bool = False  # files of a repository that cxgen has not filled


def api() -> Any:
    """The client, with the token from the library's own sources (environment, `hf auth login`)."""
    with needs("the Hub needs the huggingface_hub library", "publish"):
        import httpx2  # noqa: F401
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars
    if not sys.stderr.isatty():
        disable_progress_bars()
    return HfApi()


def head(client: Any, target: Target) -> str:
    """The commit that the branch is at; empty if there is no such repository or branch (or none that the token may see)."""
    from huggingface_hub import get_token
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    with _failures(target):
        try:
            return str(client.repo_info(target.repository, **_KIND, revision=target.branch).sha)
        except (RepositoryNotFoundError, RevisionNotFoundError) as error:
            if error.response.status_code == 401 and get_token() is not None:
                raise
            return ""


def download(client: Any, repository: str, revision: str) -> Path:
    """Fetch the parquet files of a revision into the library's cache; the folder that holds them."""
    with _failures(Target(repository, revision)):
        return Path(client.snapshot_download(repository, **_KIND, revision=revision, allow_patterns=["*/*.parquet"]))


def release(client: Any, target: Target, folder: Path) -> str:
    """Commit ``folder`` at once onto the expected parent, then tag it; the commit. What a broken-off run has done is not done twice."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    check(client, target, head(client, target), folder)
    with _failures(target):
        client.create_repo(target.repository, **_KIND, private=target.private or None, exist_ok=True)
        if target.branch != "main":
            client.create_branch(target.repository, **_KIND, branch=target.branch, exist_ok=True)
    parent = head(client, target)
    check(client, target, parent, folder)
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    operations: list[Any] = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=path) for name, path in files.items()]
    with _failures(target):
        there = client.list_repo_files(target.repository, **_KIND, revision=parent)
        gone = {name for name in there if name.endswith(".parquet")} - files.keys()
        operations += map(CommitOperationDelete, sorted(gone))
        about = {"revision": target.branch, "parent_commit": parent, "commit_message": f"Release {target.tag}"}
        commit = str(client.create_commit(target.repository, operations, **_KIND, **about).oid)
    with _failures(target, _tagged(target)):
        client.create_tag(target.repository, **_KIND, tag=target.tag, revision=commit, exist_ok=False)
    return commit


def check(client: Any, target: Target, parent: str, folder: Path) -> None:
    """See that nothing keeps ``folder`` from being released on top of ``parent`` (see `head`): what `release` asks. Sends nothing."""
    if not parent:
        return
    with _failures(target):
        if target.tag in {ref.name for ref in client.list_repo_refs(target.repository, **_KIND).tags}:
            raise _tagged(target)
        there = client.list_repo_files(target.repository, **_KIND, revision=parent)
        record = _record(client, target, parent) if layout.VERSION_FILE in there else None
    others = [name for name in there if name != ".gitattributes"]  # which the Hub makes
    if others and record is None and not target.replace:
        hint = "choose another name; or, if README.md and all parquet files there may be replaced, give --replace"
        raise HubError(f"{target.repository} holds what cxgen has not put there: {some(others, 3)}", hint=hint)
    made_before = record is not None and record == read_json(folder / layout.VERSION_FILE)  # by a run that ended before its tag
    if target.parent and not parent.startswith(target.parent) and not made_before:
        raise _moved(target)


def _record(client: Any, target: Target, commit: str) -> dict[str, Any] | None:
    """What the record of a release says that is there; None if it is none of cxgen's."""
    try:
        record = read_json(Path(client.hf_hub_download(target.repository, layout.VERSION_FILE, **_KIND, revision=commit)))
    except DataError:
        return None
    return record if isinstance(record, dict) and {"content_hash", "rows"} <= record.keys() else None


def _tagged(target: Target) -> HubError:
    hint = "raise publish.version in params.yaml, or give another --tag"
    return HubError(f"{target.repository} has a tag {target.tag} already", hint=hint)


def _moved(target: Target) -> HubError:
    where = target.parent[:8] or "the commit it was at"
    hint = "look at what has changed (`cxgen publish ... --dry-run` shows it), then publish again"
    return HubError(f"{target.branch} of {target.repository} is no longer at {where}: somebody else has committed to it", hint=hint)


@contextmanager
def _failures(target: Target, conflict: HubError | None = None) -> Iterator[None]:
    """One line for what the hub library raises, without the server's texts, which may quote headers; ``conflict``: of a 409 or 412."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, LocalTokenNotFoundError, OfflineModeIsEnabled

    try:
        yield
    except (OfflineModeIsEnabled, HTTPError, OSError, RuntimeError, ValueError, KeyError) as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, HfHubHTTPError):
            cause = cause.__cause__
        status = 401 if isinstance(error, LocalTokenNotFoundError) else cause.response.status_code if cause else 0
        if status in {409, 412}:
            raise conflict or _moved(target) from error
        if status:
            message, hint = _STATUS.get(status, (f"the Hub failed ({status})", f"try again later; {_LATER}"))
            raise HubError(message.format(repository=target.repository, branch=target.branch), hint=hint) from error
        if isinstance(error, OfflineModeIsEnabled | HTTPError | LocalEntryNotFoundError | ConnectionError):
            hint = "check the connection and HF_ENDPOINT, HF_HUB_OFFLINE; then try again"
            raise HubError("the Hub cannot be reached", hint=hint) from error
        raise HubError(f"the hub client failed: {type(error).__name__}", hint=f"try again; {_LATER}") from error
