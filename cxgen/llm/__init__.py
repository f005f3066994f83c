"""Language models as judges: prompts, a cache of paid replies, bounds, and records."""

from cxgen.llm.cache import Cache
from cxgen.llm.extra import require
from cxgen.llm.limits import Limits
from cxgen.llm.messages import Backend, Call, CallError, Reply
from cxgen.llm.prompts import FOLDER, TASKS, Prompt
from cxgen.llm.runner import BackendError, Job, Judgment, Outcome, judge
from cxgen.llm.vote import agreement, majority

__all__ = [
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
    "judge",
    "majority",
    "require",
]
