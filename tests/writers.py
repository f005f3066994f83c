"""What a writer might answer: sound sets of caused motion, one for each that is asked for, and how they may be spoilt."""

import copy
import json

from cxgen.natural.sets import Asked

SLOTS = ("thing", "other", "here", "there")
PLACES = {f"{a}-in-{i}": (a, i, *(slot for slot in SLOTS if slot not in {a, i})) for a in SLOTS[:2] for i in SLOTS[2:]}
_OPENINGS = ("Grumbling about the {}", "Since nobody had asked about the {}", "With one eye on the {}", "Long before the {} came up")
_ENDS = ("fished the soaked {}", "lifted the {}, still warm,", "shook the {}", "hauled the {}")
_VERBS = {"coax": "coaxed", "lower": "lowered", "toss": "tossed", "lug": "lugged"}
WORDS = {"thing": "kitten", "other": "puppy", "here": "basket", "there": "laundry tub"}


def a_set(asked: Asked, number: int, verb: str = "") -> dict:
    """A sound set; another number, another wording."""
    lemma = verb or list(_VERBS)[number % 4]
    past, opening, end = _VERBS.get(lemma, lemma), _OPENINGS[number % 4].format(asked.seeds[-1]), _ENDS[number // 4 % 4]
    kinds = {}
    for kind, slots in PLACES.items():
        a, i, d, e = (WORDS[slot] for slot in slots)
        sentence = f"{opening}, Karen {past} the {a} into the {i} and only then {end.format(d)} out of the {e}."
        kinds[kind] = {"sentence": sentence, "slots": {"agent": "Karen", "verb": past, "also": end.split()[0], **WORDS}}
    return {"choice": "in", "kinds": kinds}


def spoilt(asked: Asked, change) -> str:
    """A sound set's answer after ``change``, which is given the set and its first kind's entry."""
    found = copy.deepcopy(a_set(asked, 0))
    change(found, found["kinds"]["thing-in-here"])
    return json.dumps(found)
