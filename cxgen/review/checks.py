"""Attention checks: rows whose answer is plain to whoever reads them. They look like the others."""

from __future__ import annotations

# first, second, answer
PAIRS = (
    ("The baker opened the oven and took out the bread.", "The baker opened the oven.", "E"),
    ("After the game, Laura drove her brother home.", "Laura did not drive her brother home after the game.", "C"),
    ("The tailor shortened the coat on Tuesday.", "The tailor has two sons.", "N"),
    ("Both windows were closed when the guests arrived.", "The windows were open when the guests arrived.", "C"),
    ("The gardener watered the roses and the tulips.", "The gardener watered the tulips.", "E"),
    ("The clerk stamped the form and gave it back.", "The clerk was born in winter.", "N"),
    ("My neighbor sold the boat to a friend.", "My neighbor sold the boat.", "E"),
    ("Nobody was in the library that morning.", "Ten people were in the library that morning.", "C"),
)
# sentence, the ratings that are right
SENTENCES = (
    ("Kitchen the under of quickly a she letter.", "12"),
    ("We had lunch at home and then went for a walk.", "45"),
    ("Him window seven between drank the because.", "12"),
    ("My sister called me last night.", "45"),
    ("To chair of green it was the were.", "12"),
    ("The children played in the garden all afternoon.", "45"),
)
