"""All cases of damaged and hostile files."""

from tests import damage, damage_more

CASES = [*damage.CASES, *damage_more.CASES]
