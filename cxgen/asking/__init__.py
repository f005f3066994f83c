"""Asking models: prompts, calls within bounds, answers that are kept, votes, frozen judgments.

`cxgen.asking.consult` puts tasks to models, whatever the tasks: judging (`cxgen.asking.judge`), writing, evaluating.
"""

from cxgen.asking.calls import Budget, Limits
from cxgen.asking.consult import Consultation, Judgment, Outcome
from cxgen.asking.prompts import Prompt

__all__ = ["Budget", "Consultation", "Judgment", "Limits", "Outcome", "Prompt"]
