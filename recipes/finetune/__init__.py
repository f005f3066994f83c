"""Fine-tuning in three regimes: see README.md."""
