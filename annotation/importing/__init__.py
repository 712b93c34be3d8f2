"""Strict reading of the paper's files into prompts, responses and labels.

`tables` reads a file into rows, `cells` reads single cells, `content` holds what a benchmark has
and would get, `planning` turns rows into a plan, `writing` stores a plan. Nothing is guessed: a
row that cannot be read as it stands is a problem with file, line, column and a way out.
"""
