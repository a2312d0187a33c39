"""Chains of relations: "who is responsible for the component that Billing depends on?" is answered in two steps.

From what a question names, paths of up to three steps are followed through the graph, along the relations that the
question has words for. The path that explains its words best is the answer, with the statements it is made of. Each
step needs words of its own; words for a relation that a path does not follow, and names that it does not start from,
speak against it. No model is asked, and the work is bounded: a beam of paths, two look-ups a step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retentia.learn.graph import Edge, Graph
from retentia.learn.question import Cue, Named, Question, Role, read_question
from retentia.learn.relations import Relations, shipped_relations

MAX_STEPS = 3
_BEAM = 48
_FAN = 16
_MAX_CUES = 8
_BY_TYPE = 0.3
_DIRECTION = 0.3
_ORDER = 0.1
_OTHER_CUE = 0.5
_OTHER_WORD = 0.12
_OTHER_NAME = 0.7
_RIGHT_TYPE = 0.4
_WRONG_TYPE = 0.6
_STEP = 0.55
_OLDER = 0.1
_ENOUGH = 0.3
_ANY_TYPE = frozenset(("", "thing", "text", "kind"))


@dataclass(frozen=True, slots=True)
class Step:
    """An edge and which way it is followed: from its subject to its object, or the other way."""

    edge: Edge
    is_inverse: bool

    @property
    def start(self) -> str:
        """The node where the step begins."""
        return self.edge.object_node if self.is_inverse else self.edge.subject_node

    @property
    def end(self) -> str:
        """The node where the step ends."""
        return self.edge.subject_node if self.is_inverse else self.edge.object_node

    @property
    def reached(self) -> str:
        """The name of what the step leads to, as it was said."""
        return self.edge.subject if self.is_inverse else self.edge.object


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A path that answers a question: its steps, the name at its end, and the words of the question that it explains.

    `score` grows with what is explained and falls with what is not; it compares chains of one question only.
    """

    steps: tuple[Step, ...]
    answer: str
    score: float
    explained: tuple[str, ...]

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The statements that the answer rests on."""
        return tuple(step.edge for step in self.steps)


@dataclass(frozen=True, slots=True)
class Found:
    """The chains that answer a question, best first; where there is none, `reason` says why."""

    chains: tuple[Chain, ...] = ()
    reason: str = ""

    @property
    def best(self) -> Chain | None:
        """The best chain, if there is one."""
        return self.chains[0] if self.chains else None


@dataclass(frozen=True, slots=True)
class _Path:
    start: Named
    steps: tuple[Step, ...] = ()
    age: int = 0
    explains: float = 0.0

    @property
    def score(self) -> float:
        """What is said of older things comes after the newest, however much older it is."""
        return self.explains - (_OLDER if self.age else 0.0)

    @property
    def rank(self) -> tuple[float, int]:
        return -self.score, self.age

    @property
    def node(self) -> str:
        return self.steps[-1].end if self.steps else self.start.node

    def passes(self, node: str) -> bool:
        return node == self.start.node or any(step.end == node for step in self.steps)


def find_chains(
    question: str, graph: Graph, relations: Relations | None = None, *, limit: int = 5, max_steps: int = MAX_STEPS
) -> Found:
    """Return up to `limit` chains that answer a question, best first; of equal ones the more recently stated."""
    relations = relations or shipped_relations()
    read = read_question(question, graph.nodes, relations)
    if not read.named:
        return Found(reason="the question names nothing that is known")
    if not read.cues and not read.type_words:
        return Found(reason="the question has no words for a relation")
    search = _Search(read, graph, relations)
    paths = sorted(search.paths(min(max_steps, MAX_STEPS)), key=lambda path: path.rank)
    best: dict[str, _Path] = {}
    for path in paths:
        if path.explains >= _ENOUGH and not search.is_wrong_type(path):
            best.setdefault(path.node, path)
    if not best:
        return Found(reason="no path of known relations explains the question")
    return Found(tuple(search.chain(path) for path in list(best.values())[:limit]))


class _Search:
    """One question at one graph."""

    def __init__(self, question: Question, graph: Graph, relations: Relations) -> None:
        self._question = question
        self._graph = graph
        self._relations = relations
        names = {*question.cues, *(one.name for one in relations.by_name.values() if self._type_at(one.object))}
        names |= {one.name for one in relations.by_name.values() if self._type_at(one.subject)}
        self._cues = {
            (name, is_inverse): found
            for name in sorted(names)
            for is_inverse in (False, True)
            if (found := self._evidence(name, is_inverse=is_inverse))
        }

    def paths(self, max_steps: int) -> Iterator[_Path]:
        frontier = [_Path(named) for named in self._question.named]
        for _ in range(max_steps):
            longer = sorted(self._longer(frontier), key=lambda path: path.rank)
            yield from longer
            frontier = longer[:_BEAM]

    def chain(self, path: _Path) -> Chain:
        words = self._question.words
        explained = sorted(self._covered(path, self._assigned(path)[1]))
        return Chain(
            steps=path.steps,
            answer=path.steps[-1].reached,
            score=round(path.score, 3),
            explained=tuple(words[at].text for at in explained),
        )

    def _longer(self, frontier: Sequence[_Path]) -> Iterator[_Path]:
        at: dict[str, list[_Path]] = {}
        for path in frontier:
            at.setdefault(path.node, []).append(path)
        for is_inverse in (False, True):
            names = [name for name, turned in self._cues if turned == is_inverse]
            if not names or not at:
                continue
            ages: dict[tuple[str, str], int] = {}
            for edge in self._graph.edges(list(at), names, is_inverse=is_inverse, limit=_FAN):
                step = Step(edge, is_inverse)
                age = ages[step.start, edge.relation] = ages.get((step.start, edge.relation), -1) + 1
                for path in at.get(step.start, ()):
                    if not path.passes(step.end) and (longer := self._scored(path, step, age)):
                        yield longer

    def _scored(self, path: _Path, step: Step, age: int) -> _Path | None:
        longer = _Path(path.start, (*path.steps, step), path.age + age)
        worth, assigned = self._assigned(longer)
        if len(assigned) < len(longer.steps):
            return None
        question = self._question
        covered = self._covered(longer, assigned)
        other_cues = len(question.cued - covered)
        other_words = len(question.content - question.cued - covered)
        other_names = sum(one.is_name for one in question.named if one != path.start)
        score = (
            worth
            - _STEP * len(longer.steps)
            + self._type_worth(step)
            - _OTHER_CUE * other_cues
            - _OTHER_WORD * other_words
            - _OTHER_NAME * other_names
        )
        return _Path(longer.start, longer.steps, longer.age, score)

    def _assigned(self, path: _Path) -> tuple[float, tuple[Cue, ...]]:
        """Give each step the words that speak for it, no word to two; return how much they say, and them."""
        best: tuple[float, tuple[Cue, ...]] = (0.0, ())
        options = [self._cues[step.edge.relation, step.is_inverse] for step in path.steps]

        def assign(index: int, worth: float, chosen: tuple[Cue, ...], taken: frozenset[int]) -> None:
            nonlocal best
            if index == len(options):
                if not best[1] or worth > best[0]:
                    best = (worth, chosen)
                return
            for cue in options[index]:
                if taken.isdisjoint(cue.at):
                    gain = cue.weight + self._place_worth(path.start, chosen, cue)
                    assign(index + 1, worth + gain, (*chosen, cue), taken.union(cue.at))

        assign(0, 0.0, (), frozenset())
        return best

    def _place_worth(self, start: Named, before: Sequence[Cue], cue: Cue) -> float:
        """Return what the place of a cue says: steps stand in order from the name, and a verb beside who does it."""
        worth = 0.0
        if before:
            worth += _ORDER if _distance(start, cue) >= _distance(start, before[-1]) else -_ORDER
        if cue.role is not Role.NONE:
            first = min((start.first, *(at for one in before for at in one.at)))
            is_turned = self._is_doer(first) if cue.role is Role.OBJECT else self._is_done_to(first, cue)
            worth += _DIRECTION if is_turned == cue.is_inverse else -_DIRECTION
        return worth

    def _is_doer(self, argument: int) -> bool:
        """Tell whether the word at `argument` does what a verb says: "by X", "did X"."""
        return self._word_before(argument) in self._relations.words("before_doer")

    def _is_done_to(self, argument: int, cue: Cue) -> bool:
        """Tell whether a verb is done to the word at `argument`: it is behind its preposition, or behind the verb."""
        words = self._question.words
        if self._word_before(argument) in cue.beside:
            return True
        if argument < cue.at[0]:
            return False
        following = cue.at[-1] + 1
        return not cue.beside or (following < len(words) and words[following].text in cue.beside)

    def _word_before(self, at: int) -> str:
        """Return the word before another and its article, "" where there is none."""
        articles = self._relations.words("articles")
        while at > 0 and self._question.words[at - 1].text in articles:
            at -= 1
        return self._question.words[at - 1].text if at > 0 else ""

    def _covered(self, path: _Path, chosen: Sequence[Cue]) -> frozenset[int]:
        covered = {at for cue in chosen for at in cue.at}
        for step in path.steps:
            covered.update(at for cue in self._cues[step.edge.relation, step.is_inverse] for at in cue.at)
            relation = self._relations.of(step.edge.relation)
            covered |= self._type_at(relation.subject) | self._type_at(relation.object)
        covered.update(range(path.start.first, path.start.last))
        covered.update(self._apposition(path.start))
        return frozenset(covered)

    def _apposition(self, named: Named) -> Iterator[int]:
        """Yield the words before a name that say what it is: the TV series "24"."""
        at = named.first - 1
        while at >= 0 and any(at in some for some in self._question.type_words.values()):
            yield at
            at -= 1

    def _evidence(self, name: str, *, is_inverse: bool) -> list[Cue]:
        relation = self._relations.of(name)
        cues = [cue for cue in self._question.cues.get(name, ()) if cue.is_inverse == is_inverse]
        reached = relation.subject if is_inverse else relation.object
        cues += [Cue((at,), _BY_TYPE, is_inverse) for at in sorted(self._type_at(reached))]
        if is_inverse and not any(cue.weight > _BY_TYPE for cue in cues):
            return []
        return sorted(cues, key=lambda cue: -cue.weight)[:_MAX_CUES]

    def _type_at(self, kind: str) -> frozenset[int]:
        """Return the places of words that name a type, a wider or a narrower one."""
        if kind in _ANY_TYPE:
            return frozenset()
        return frozenset(
            at for other, some in self._question.type_words.items() if self._is_either(kind, other) for at in some
        )

    def _type_worth(self, step: Step) -> float:
        relation = self._relations.of(step.edge.relation)
        reached, asked = relation.subject if step.is_inverse else relation.object, self._question.asked_type
        if not asked or reached in _ANY_TYPE:
            return 0.0
        return _RIGHT_TYPE if self._is_either(reached, asked) else -_WRONG_TYPE

    def is_wrong_type(self, path: _Path) -> bool:
        """Tell whether a path ends at another type of thing than the question asks for."""
        return self._type_worth(path.steps[-1]) < 0

    def _is_either(self, one: str, other: str) -> bool:
        return self._relations.is_a(one, other) or self._relations.is_a(other, one)


def _distance(start: Named, cue: Cue) -> int:
    at = cue.at[0]
    return start.first - at if at < start.first else at - start.last + 1
