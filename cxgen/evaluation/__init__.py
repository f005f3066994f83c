"""From predictions to numbers: questions, predictions that answer all of them, scores with intervals, baselines, models, harnesses."""
