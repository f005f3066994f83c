"""Language models as judges: prompts, a cache of paid replies, bounds, and records."""

from cxgen.llm.cache import Cache
from cxgen.llm.frozen import FILE, freeze, read_frozen
from cxgen.llm.limits import Limits
from cxgen.llm.messages import Backend, Call, CallError, Reply
from cxgen.llm.prompts import FOLDER, TASKS, Prompt
from cxgen.llm.runner import BackendError, Job, Judgment, Outcome, judge
from cxgen.llm.vote import agreement, majority

__all__ = [
    "FILE",
    "FOLDER",
    "TASKS",
    "Backend",
    "BackendError",
    "Cache",
    "Call",
    "CallError",
    "Job",
    "Judgment",
    "Limits",
    "Outcome",
    "Prompt",
    "Reply",
    "agreement",
    "freeze",
    "judge",
    "majority",
    "read_frozen",
]
