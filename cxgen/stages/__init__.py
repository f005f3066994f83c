"""The pipeline's stages: each reads files, writes files, and leaves nothing half-written."""
