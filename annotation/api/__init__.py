"""The read side of the REST API for what people do; `reading` is the base that judging shares."""
