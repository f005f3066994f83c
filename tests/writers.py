"""What a writer might answer: sound sets of caused motion, one for each that is asked for, and how they may be spoilt."""

import copy
import json

from cxgen.natural.sets import Asked

DESIGN = "two-things"
PLACES = {
    "thing-in-here": ("thing", "here", "other", "there"),
    "thing-in-there": ("thing", "there", "other", "here"),
    "other-in-here": ("other", "here", "thing", "there"),
    "other-in-there": ("other", "there", "thing", "here"),
}
_OPENINGS = (
    "Grumbling about the {seed}",
    "Since nobody had asked about the {seed}",
    "With one eye on the {seed}",
    "Long before the {seed} came up",
)
_ENDS = (
    "fished the soaked {d} out of the {e}",
    "lifted the {d}, still warm, out of the {e}",
    "shook the {d} out of the {e}",
    "hauled the {d} out of the {e}",
)
_VERBS = {"coax": "coaxed", "lower": "lowered", "toss": "tossed", "lug": "lugged"}
WORDS = {"thing": "kitten", "other": "puppy", "here": "basket", "there": "laundry tub"}


def seed_of(asked: Asked) -> str:
    """A noun among the seeds."""
    return asked.seeds[-1]


def a_set(asked: Asked, number: int, verb: str = "") -> dict:
    """A sound set; another number, another wording."""
    lemma = verb or list(_VERBS)[number % 4]
    past, opening, end = _VERBS.get(lemma, lemma), _OPENINGS[number % 4].format(seed=seed_of(asked)), _ENDS[number // 4 % 4]
    also = end.split()[0]
    kinds = {}
    for kind, slots in PLACES.items():
        a, i, d, e = (WORDS[slot] for slot in slots)
        sentence = f"{opening}, Karen {past} the {a} into the {i} and only then {end.format(d=d, e=e)}."
        kinds[kind] = {"sentence": sentence, "slots": {"agent": "Karen", "verb": past, "also": also, **WORDS}}
    return {"choice": "in", "kinds": kinds}


def spoilt(asked: Asked, change) -> str:
    """A sound set's answer after ``change``, which is given the set and its first kind's entry."""
    found = copy.deepcopy(a_set(asked, 0))
    change(found, found["kinds"]["thing-in-here"])
    return json.dumps(found)
