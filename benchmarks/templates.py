"""Sentences and words of our own, for machines without the public benchmarks."""

import random
from functools import cache
from itertools import product

SENTENCES = (
    "We should move the meeting about quarterly planning to Thursday, because the client cannot travel before that.",
    "My sister started working at the hospital in March and says the night shifts are harder than she expected.",
    "The second migration failed when the staging database ran out of connections, so we rolled everything back.",
    "I finally booked the flights; we arrive on the 14th in the evening and stay until the following Wednesday.",
    "Could you remind me which restaurant we liked so much when your parents came to visit last summer?",
    "The invoice from the printing company is still open, it was something like 480 euros before taxes.",
    "After the long hike everybody was exhausted, but the children wanted to swim in the mountain lake anyway.",
    "For the new apartment I would prefer wooden floors, a balcony facing south and enough space for the piano.",
    "The doctor recommended less coffee and more sleep, which is easier said than done during the exam period.",
    "Please use the smaller model for classification, the larger one is too expensive for what it brings us.",
    "Grandfather used to repair watches in the back room, and I still keep his tools in the wooden box.",
    "We decided against the cloud provider because exporting our data would have taken several weeks.",
)
QUESTIONS = (
    "When did the second migration of the staging database fail?",
    "Which restaurant did we like when the parents came to visit?",
    "How much was the invoice from the printing company?",
    "What does my sister say about working at the hospital?",
    "Where does grandfather keep the tools for repairing watches?",
    "Why did we decide against the cloud provider?",
)
_SYLLABLES = ("bar", "con", "del", "fir", "gate", "hol", "ing", "kel", "lor", "mont", "per", "ros", "sel", "ton")
_DRAWN = 200_000


@cache
def vocabulary() -> list[str]:
    """Return made-up words, each as often as Zipf's law has it: the n-th one 1/n times as often as the first."""
    words = ["".join(parts) for parts in product(_SYLLABLES, repeat=3)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return random.Random(3).choices(words, weights, k=_DRAWN)
