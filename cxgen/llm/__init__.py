"""Asking language models: prompts, a cache of paid replies, bounds, and records of who said what.

`ask` puts items to one model, whatever the task: judging (`cxgen.vocabulary.JUDGING`) or proposing.
"""

from cxgen.llm.cache import Cache
from cxgen.llm.job import Job, Judgment
from cxgen.llm.limits import Limits
from cxgen.llm.messages import Backend, Call, CallError, Reply
from cxgen.llm.prompts import Prompt
from cxgen.llm.runner import BackendError, Outcome, ask
from cxgen.llm.vote import agreement, majority

__all__ = [
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
    "ask",
    "majority",
]
