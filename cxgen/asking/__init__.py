"""Asking models: prompts, a client within bounds, answers that are kept, votes, frozen judgments.

`cxgen.asking.consult` puts tasks to models, whatever the tasks: judging (`cxgen.vocabulary.JUDGING`), writing, evaluating.
"""

from cxgen.asking.cache import Judgment
from cxgen.asking.consult import Consultation
from cxgen.asking.limits import Budget, Limits
from cxgen.asking.prompts import Prompt
from cxgen.asking.run import BackendError, Outcome

__all__ = ["BackendError", "Budget", "Consultation", "Judgment", "Limits", "Outcome", "Prompt"]
