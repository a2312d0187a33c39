from collections.abc import Collection, Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from retentia.learn.chains import MAX_STEPS, Chain, find_chains
from retentia.learn.graph import Edge, StatedGraph, node_of
from retentia.learn.relations import shipped_relations
from retentia.learn.statements import Statement

NAMES = ["Ada", "Bo Lind", "Cora", "Dunmore", "Ent Ltd", "Fay"]
WORDS = {
    "capital": "capital",
    "employer": "employer",
    "manager": "manager",
    "depends_on": "dependency",
    "citizenship": "citizenship",
    "founder": "founder",
}

triples = st.tuples(st.sampled_from(NAMES), st.sampled_from(sorted(WORDS)), st.sampled_from(NAMES))
stories = st.lists(triples, max_size=40)
questions = st.tuples(st.lists(st.sampled_from(sorted(WORDS.values())), max_size=5), st.sampled_from(NAMES)).map(
    lambda drawn: "What is the " + " of the ".join([*drawn[0], drawn[1]]) + "?"
)


def said(subject: str, relation: str, object_: str) -> Statement:
    return Statement(
        subject=subject,
        relation=relation,
        object=object_,
        start=0,
        end=0,
        subject_start=0,
        subject_end=0,
        object_start=0,
        object_end=0,
    )


def built(story: Sequence[tuple[str, str, str]]) -> StatedGraph:
    graph = StatedGraph()
    for place, told in enumerate(story):
        graph.state(said(*told), str(place))
    return graph


def holds_now(story: Sequence[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Return what a dictionary of slots holds at the end."""
    slots: dict[tuple[str, str], set[str]] = {}
    for subject, relation, object_ in story:
        many = slots.setdefault((subject, relation), set())
        if not shipped_relations().of(relation).has_many:
            many.clear()
        many.add(object_)
    return {(subject, relation, one) for (subject, relation), many in slots.items() for one in many}


def is_connected(chain: Chain) -> bool:
    pairs = zip(chain.steps, chain.steps[1:], strict=False)
    return all(before.end == after.start for before, after in pairs) and node_of(chain.answer) == chain.steps[-1].end


@given(stories, questions)
def test_the_steps_of_a_chain_connect_and_are_never_more_than_three(
    story: list[tuple[str, str, str]], question: str
) -> None:
    for chain in find_chains(question, built(story)).chains:
        assert 1 <= len(chain.steps) <= MAX_STEPS == 3
        assert is_connected(chain)
        assert len({step.end for step in chain.steps}) == len(chain.steps)


@given(stories, questions)
def test_what_was_superseded_is_in_no_answer_about_now(story: list[tuple[str, str, str]], question: str) -> None:
    now = holds_now(story)
    for chain in find_chains(question, built(story)).chains:
        assert {(edge.subject, edge.relation, edge.object) for edge in chain.edges} <= now


@given(stories, questions)
def test_there_is_a_chain_or_a_reason_and_the_best_comes_first(
    story: list[tuple[str, str, str]], question: str
) -> None:
    found = find_chains(question, built(story))
    assert bool(found.chains) != bool(found.reason)
    scores = [chain.score for chain in found.chains]
    assert scores == sorted(scores, reverse=True)
    assert len({chain.answer for chain in found.chains}) == len(found.chains)


@given(st.text(max_size=200))
def test_any_text_may_be_asked(text: str) -> None:
    found = find_chains(text, built([("Ada", "employer", "Ent Ltd")]))
    assert bool(found.chains) != bool(found.reason)


class Counting:
    """A graph that counts what it is asked for and what it answers."""

    def __init__(self, graph: StatedGraph) -> None:
        self._graph = graph
        self.asked = self.answered = 0

    def nodes(self, names: Collection[str]) -> Mapping[str, str]:
        self.asked += 1
        return self._graph.nodes(names)

    def edges(
        self, nodes: Collection[str], relations: Collection[str], *, is_inverse: bool, limit: int
    ) -> Sequence[Edge]:
        self.asked += 1
        found = self._graph.edges(nodes, relations, is_inverse=is_inverse, limit=limit)
        self.answered += len(found)
        return found


@settings(max_examples=5, deadline=None)
@given(st.integers(40, 120))
def test_the_work_is_bounded_where_everything_is_linked_with_everything(size: int) -> None:
    things = [f"Thing{number}" for number in range(size)]
    graph = Counting(built([(one, "depends_on", other) for one in things for other in things if one != other]))
    found = find_chains("What does the dependency of the dependency of the dependency of Thing7 depend on?", graph)
    assert found.chains
    assert graph.asked <= 1 + 2 * MAX_STEPS
    assert graph.answered <= 2 * 16 * (1 + 48 + 48)
