"""The Hugging Face Hub: one commit that holds the whole release, then its tag.

Uploading, retrying and the token are the hub library's own work; this module decides what is committed onto which parent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxgen import layout
from cxgen.errors import CxgenError, DataError, needs
from cxgen.files import read_json

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_KIND = "dataset"
_MADE_BY_HUB = {".gitattributes"}  # with a repository


class HubError(CxgenError):
    """The Hub refused, or failed."""


class UnreachableError(HubError):
    """There is no connection to the Hub."""


@dataclass(frozen=True)
class Target:
    """Where a release goes.

    Attributes:
        repository: OWNER/NAME.
        branch: the branch that gets the commit.
        tag: the tag that names it.
        private: whether a repository that has to be made is private.
        parent: the commit that the branch must be at, or empty: where it is found.
        replace: whether files of a repository that cxgen has not filled may be replaced and removed.
    """

    repository: str
    branch: str = "main"
    tag: str = ""
    private: bool = False
    parent: str = ""
    replace: bool = False


def api() -> HfApi:
    """The client, with the token from the library's own sources (environment, `hf auth login`).

    Raises:
        DataError: huggingface_hub is not installed.
    """
    with needs("the Hub needs the huggingface_hub library", "publish"):
        import httpx2  # noqa: F401
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars
    if not sys.stderr.isatty():
        disable_progress_bars()
    return HfApi()


def head(client: HfApi, target: Target) -> str:
    """The commit that the branch is at; empty if there is no such repository or branch (or none that the token may see)."""
    from huggingface_hub import get_token
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    with failures(target):
        try:
            return str(client.repo_info(target.repository, repo_type=_KIND, revision=target.branch).sha)
        except (RepositoryNotFoundError, RevisionNotFoundError) as error:
            if error.response.status_code == 401 and get_token() is not None:
                raise
            return ""


def download(client: HfApi, repository: str, revision: str) -> Path:
    """Fetch the parquet files of a revision into the library's cache; the folder that holds them."""
    with failures(Target(repository, revision)):
        return Path(client.snapshot_download(repository, repo_type=_KIND, revision=revision, allow_patterns=["*/*.parquet"]))


def release(client: HfApi, target: Target, folder: Path) -> str:
    """Commit everything in ``folder`` at once onto the expected parent, then tag it; the commit.

    What an earlier, broken-off run has uploaded is not uploaded again, and a commit that it has made is not made twice.

    Raises:
        HubError: the tag exists, the branch has moved, or the Hub refused.
    """
    check(client, target, head(client, target), folder)
    with failures(target):
        client.create_repo(target.repository, repo_type=_KIND, private=target.private or None, exist_ok=True)
        if target.branch != "main":
            client.create_branch(target.repository, repo_type=_KIND, branch=target.branch, exist_ok=True)
    parent = head(client, target)
    check(client, target, parent, folder)
    with failures(target):
        operations = _operations(folder, client.list_repo_files(target.repository, repo_type=_KIND, revision=parent))
        about: dict[str, Any] = {
            "repo_type": _KIND,
            "revision": target.branch,
            "parent_commit": parent,
            "commit_message": f"Release {target.tag}",
        }
        commit = str(client.create_commit(target.repository, operations, **about).oid)
    with failures(target, _tagged(target)):
        client.create_tag(target.repository, repo_type=_KIND, tag=target.tag, revision=commit, exist_ok=False)
    return commit


def check(client: HfApi, target: Target, parent: str, folder: Path) -> None:
    """See that nothing keeps ``folder`` from being released: what `release` asks before it commits. Sends nothing.

    Args:
        client: the Hub's.
        target: where the release would go.
        parent: what `head` says.
        folder: the release.

    Raises:
        HubError: the tag exists, the branch has moved, the repository holds what cxgen has not put there, or the Hub refused.
    """
    if not parent:
        return
    with failures(target):
        if target.tag in {ref.name for ref in client.list_repo_refs(target.repository, repo_type=_KIND).tags}:
            raise _tagged(target)
        there = client.list_repo_files(target.repository, repo_type=_KIND, revision=parent)
        record = _record(client, target, parent) if layout.VERSION_FILE in there else None
        others = [name for name in there if name not in _MADE_BY_HUB]
        if others and record is None and not target.replace:
            names = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
            hint = "choose another name; or, if README.md and all parquet files there may be replaced, give --replace"
            raise HubError(f"{target.repository} holds what cxgen has not put there: {names}", hint=hint)
        made_before = record is not None and record == read_json(folder / layout.VERSION_FILE)  # by a run that ended before its tag
        if target.parent and not parent.startswith(target.parent) and not made_before:
            raise _moved(target)


def _operations(folder: Path, there: Sequence[str]) -> list[Any]:
    """Every file of the folder, and the removal of parquet files of an earlier release that this one does not have."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    here = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    gone = sorted(name for name in there if name.endswith(".parquet") and name not in here)
    added = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=path) for name, path in here.items()]
    return [*added, *(CommitOperationDelete(path_in_repo=name) for name in gone)]


def _record(client: HfApi, target: Target, commit: str) -> dict[str, Any] | None:
    """What the record of a release says that is there; None if it is none of cxgen's."""
    try:
        record = read_json(Path(client.hf_hub_download(target.repository, layout.VERSION_FILE, repo_type=_KIND, revision=commit)))
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
def failures(target: Target, conflict: HubError | None = None) -> Iterator[None]:
    """Turn what the hub library raises into one line that says what to do. Texts of the server are not repeated: they may quote headers.

    Args:
        target: named in the messages.
        conflict: what a 409 or 412 means; default: that the branch has moved.

    Raises:
        HubError: in place of the library's errors.
    """
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, LocalTokenNotFoundError, OfflineModeIsEnabled

    try:
        yield
    except LocalTokenNotFoundError as error:
        raise _refused(401, target) from error
    except (OfflineModeIsEnabled, HTTPError, OSError, RuntimeError, ValueError, KeyError) as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, HfHubHTTPError):
            cause = cause.__cause__
        if cause is not None:
            status = cause.response.status_code
            raise (conflict or _moved(target)) if status in {409, 412} else _refused(status, target) from error
        if isinstance(error, OfflineModeIsEnabled | HTTPError | LocalEntryNotFoundError | ConnectionError):
            hint = "check the connection and HF_ENDPOINT, HF_HUB_OFFLINE; then try again"
            raise UnreachableError("the Hub cannot be reached", hint=hint) from error
        raise HubError(f"the hub client failed: {type(error).__name__}", hint="try again; what was uploaded is kept") from error


_STATUS = {
    400: ("the Hub does not accept the release (400)", "check the card's metadata: outputs/hub/README.md"),
    401: ("the Hub does not know the token (401)", "run `hf auth login`, or set HF_TOKEN"),
    403: ("the token may not write to {repository} (403)", "use a token with the right to write there"),
    404: ("{repository} has no {branch} (404), or the token may not see it", "check the name; run `hf auth login`"),
    413: ("the release is too large for one request (413)", "lower publish.shard_rows in params.yaml, or ask the Hub for more space"),
    429: ("the Hub asks for fewer requests (429), also after waiting", "wait some minutes and try again; what was uploaded is kept"),
}


def _refused(status: int, target: Target) -> HubError:
    message, hint = _STATUS.get(status, (f"the Hub failed ({status})", "try again later; what was uploaded is kept"))
    return HubError(message.format(repository=target.repository, branch=target.branch), hint=hint)
