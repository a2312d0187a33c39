"""`retentia chat`: talk to a model in the terminal, with all of working memory behind it."""
