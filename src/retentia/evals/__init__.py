"""Measure Retentia on public benchmarks and on our own small set, without a language model."""

from retentia.evals.dataset import Dataset, Entry, Group, Question
from retentia.evals.runs import Outcome, Run, run
from retentia.evals.subject import Answer, Found, Subject

__all__ = ["Answer", "Dataset", "Entry", "Found", "Group", "Outcome", "Question", "Run", "Subject", "run"]
