"""Benchmarks as datasets: each loader takes a path and knows the traps of its files."""

from retentia.evals.loaders.beam import load_beam
from retentia.evals.loaders.factconsolidation import load_factconsolidation
from retentia.evals.loaders.lifebench import load_lifebench
from retentia.evals.loaders.livemcpbench import load_livemcpbench
from retentia.evals.loaders.locomo import load_locomo
from retentia.evals.loaders.metatool import load_metatool, load_tool_requests
from retentia.evals.loaders.multilingual import load_multilingual
from retentia.evals.loaders.precisionmembench import load_precision
from retentia.evals.loaders.xquad import load_xquad

__all__ = [
    "load_beam",
    "load_factconsolidation",
    "load_lifebench",
    "load_livemcpbench",
    "load_locomo",
    "load_metatool",
    "load_multilingual",
    "load_precision",
    "load_tool_requests",
    "load_xquad",
]
