"""For curators: reads the curated YAML and WordNet, builds the snapshot, proposes candidates."""
