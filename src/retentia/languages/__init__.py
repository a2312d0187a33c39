"""Languages: what is particular to English, German and Ukrainian, as data."""

from retentia.languages.language import Language, load_languages

__all__ = ["Language", "load_languages"]
