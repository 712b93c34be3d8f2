"""Pages: `labelling` for annotators, `consenting` around it, `managing` for researchers."""
