"""Import of whole file sets: one transaction over prompts, responses, labels and judge scores."""
