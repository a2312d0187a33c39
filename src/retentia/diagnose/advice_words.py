"""How advice is told to a person, in their language; the words stand in advisor.toml."""

from collections.abc import Iterator
from dataclasses import dataclass

from retentia.diagnose.advisor import Advice, LayerAdvice, Reading, Stand
from retentia.diagnose.advisor_table import LANGUAGES, LASTING, advisor_data
from retentia.errors import InvalidInput

_MARKS = {Stand.NEXT: "→", Stand.ADVISED: "→", Stand.ON: "●", Stand.OUTGROWN: "▲", Stand.LATER: "·", Stand.SPARE: "○"}
_CONTRARY = {">=": "<", ">": "≤", "<": "≥"}
_SHOWN = {">=": "≥"}


@dataclass(frozen=True, slots=True)
class Rung:
    """A line of the picture of the ladder: a mark, the layer, how it stands, and the numbers that say so."""

    mark: str
    title: str
    stand: str
    numbers: str


class AdviceWords:
    """Tells advice in one language: "en", "de" or "uk"."""

    def __init__(self, language: str = "en") -> None:
        if language not in LANGUAGES:
            raise InvalidInput(f"advice is told in {', '.join(LANGUAGES)}, not in {language!r}")
        self._language = language
        self._words = advisor_data()["words"][language]
        self._measures = advisor_data()["measure"]
        self._kinds = {one["kind"]: one[language] for one in advisor_data()["symptom"]}

    @property
    def empty(self) -> str:
        """What is said where there is nothing to advise on."""
        return str(self._words["empty"])

    def picture(self, advice: Advice) -> list[Rung]:
        """Draw the ladder from its highest rung down, then what stands beside it."""
        return [self._rung(one) for one in (*reversed(advice.ladder), *advice.beside)]

    def lines(self, advice: Advice) -> Iterator[str]:
        """Say what is next and why, what switches it on, and what would change the answer."""
        if advice.traffic.is_empty:
            yield self.empty
            return
        yield from self._next("next", advice.next) if advice.next else [self._words["none"]]
        for one in advice.beside:
            if one.stand is Stand.ADVISED:
                yield from self._next("beside", one)
        for cure in advice.symptoms:
            title = cure.layer.titles[self._language]
            yield self._words["symptom"].format(count=cure.count, kind=self._kinds[cure.kind.value], title=title)
        if closest := advice.closest:
            yield self._words["closest"].format(title=self._title_of(advice, closest), reading=self._reading(closest))

    def traffic(self, advice: Advice) -> str:
        """Say how much traffic was looked at."""
        seen = advice.traffic
        return str(self._words["traffic"]).format(
            sessions=self._number(seen.sessions),
            people=self._number(seen.people),
            returning=self._number(seen.returning_people),
            median=self._number(seen.median_messages),
            longest=self._number(seen.longest_messages),
        )

    def _next(self, how: str, one: LayerAdvice) -> Iterator[str]:
        yield self._words[how].format(title=one.layer.titles[self._language], gives=one.layer.gives[self._language])
        decided = [self._reading(reading) for reading in one.readings if reading.holds]
        if decided:
            yield "  " + self._words["because"].format(readings=", ".join(decided))
        yield "  " + self._words["setting"].format(setting=one.setting)

    def _rung(self, one: LayerAdvice) -> Rung:
        numbers = "; ".join(map(self._reading, one.readings)) or self._words["always"]
        mark, stand = _MARKS.get(one.stand, " "), self._words["stand"][one.stand.value]
        return Rung(mark, one.layer.titles[self._language], stand, numbers)

    def _reading(self, reading: Reading) -> str:
        comparison = reading.trigger.comparison
        said = _SHOWN.get(comparison, comparison) if reading.holds else _CONTRARY[comparison]
        measure = self._measures[reading.trigger.measure]
        tell = _percent if measure.get("share") else self._number
        return str(self._words["reading"]).format(
            measure=measure[self._language],
            value=tell(reading.value),
            comparison=said,
            threshold=tell(reading.trigger.threshold),
        )

    def _title_of(self, advice: Advice, reading: Reading) -> str:
        if reading.layer == LASTING:
            return str(self._words[LASTING])
        everything = (*advice.ladder, *advice.beside)
        return next(one.layer.titles[self._language] for one in everything if one.name == reading.layer)

    def _number(self, value: float) -> str:
        whole = f"{value:,.0f}".replace(",", self._words["thousands"])
        return f"{value:g}" if value % 1 else whole


def _percent(value: float) -> str:
    return f"{value:.0%}"
