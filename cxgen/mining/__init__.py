"""Candidates for constructions in raw text: read as a stream, tagged or parsed by a spaCy pipeline, grouped for people to label."""
