"""The filter: premises prototypical / extended / unacceptable, pairs appropriate / inappropriate, each with a reason."""

from cxgen.judge.blocks import BlockJudge
from cxgen.judge.form import FormJudge, with_form
from cxgen.judge.rules import judge_items
from cxgen.judge.shapes import ShapeJudge
from cxgen.judge.verdicts import VERDICTS

__all__ = ["VERDICTS", "BlockJudge", "FormJudge", "ShapeJudge", "judge_items", "with_form"]
