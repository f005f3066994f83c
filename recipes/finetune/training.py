"""Training, by transformers' Trainer: what it is given, and where an interrupted run goes on."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recipes.finetune.model import WIDTH, Floats, probabilities
from recipes.finetune.settings import Training

_CHECKPOINTS, _WHOLE = "checkpoints", "trainer_state.json"  # the file that Trainer writes last


class Learner:
    """A model with its tokenizer, and the heads of the constructions.

    Args:
        model, tokenizer: from `build`.
        heads: construction -> number of its head; empty: one head for all.
        settings: how it learns.
        folder: of the run.
        seed: of the order of items and of dropout.
        replay: what is added to the loss beside some items, see `replayed`.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        heads: Mapping[str, int],
        settings: Training,
        folder: Path,
        seed: int,
        replay: Callable[[int, Any], Any] | None = None,
    ) -> None:
        self.model, self.tokenizer, self._replay = model, tokenizer, replay
        self._heads, self._settings, self._folder, self._seed = heads, settings, folder, seed

    def learn(self, train: pl.DataFrame, dev: pl.DataFrame) -> list[dict[str, Any]]:
        """Train, and take the best state by the accuracy on validation, a mean over constructions.

        Args:
            train, dev: ``premise, hypothesis, label, target``, see `learned_from`.

        Returns:
            What was logged: steps, losses, accuracies on validation.
        """
        from transformers import EarlyStoppingCallback

        trainer = self._trainer(train, dev, callbacks=[EarlyStoppingCallback(self._settings.patience)])
        with redirect_stdout(sys.stderr):  # where Trainer tells how far it is
            trainer.train(resume_from_checkpoint=self._last_checkpoint())
        return list(trainer.state.log_history)

    def forget_checkpoints(self) -> None:
        """Delete what is needed only as long as training may be interrupted."""
        shutil.rmtree(self._folder / _CHECKPOINTS, ignore_errors=True)

    def answers(self, rows: pl.DataFrame, batch: int) -> Floats:
        """The labels' probabilities, item by item.

        Args:
            rows: ``premise, hypothesis, target``; a construction without a head is answered by the mean of all heads.
            batch: items at a time.
        """
        with redirect_stdout(sys.stderr):
            said = self._trainer(None, None, batch=batch).predict(self._encoded(rows.with_columns(label=pl.lit(0)))).predictions
        self.forget_checkpoints()  # Trainer makes their folder anew
        return probabilities(np.asarray(said), self._head_of(rows))

    def _trainer(self, train: pl.DataFrame | None, dev: pl.DataFrame | None, batch: int = 0, callbacks: Sequence[Any] = ()) -> Any:
        from transformers import DataCollatorWithPadding, Trainer

        return Trainer(
            model=self.model,
            args=self._arguments(0 if train is None else train.height, batch),
            train_dataset=None if train is None else self._encoded(train),
            eval_dataset=None if dev is None else self._encoded(dev),
            data_collator=DataCollatorWithPadding(self.tokenizer),
            compute_loss_func=smoothed_loss(self._settings.label_smoothing, self._replay),
            compute_metrics=None if dev is None else self._metric(dev),
            callbacks=list(callbacks),
        )

    def _arguments(self, items: int, batch: int) -> Any:
        import torch
        from transformers import TrainingArguments

        each = self._settings
        steps = -(-items // (each.batch * each.accumulate))
        often: dict[str, Any] = {}
        if items:
            every = max(1, steps // each.evaluations_per_epoch)
            often = {"eval_strategy": "steps", "save_strategy": "steps", "eval_steps": every, "save_steps": every, "logging_steps": every}
            often |= {"load_best_model_at_end": True, "metric_for_best_model": "accuracy", "greater_is_better": True, "save_total_limit": 2}
        return TrainingArguments(
            output_dir=str(self._folder / _CHECKPOINTS),
            num_train_epochs=each.epochs,
            per_device_train_batch_size=each.batch,
            per_device_eval_batch_size=batch or each.batch,
            gradient_accumulation_steps=each.accumulate,
            learning_rate=each.learning_rate,
            warmup_steps=each.warmup,
            weight_decay=each.weight_decay,
            seed=self._seed,
            data_seed=self._seed,
            bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
            dataloader_pin_memory=torch.cuda.is_available(),
            label_names=["labels"],
            report_to=[],
            disable_tqdm=not sys.stderr.isatty(),
            restore_callback_states_from_checkpoint=True,
            **often,
        )

    def _encoded(self, rows: pl.DataFrame) -> list[dict[str, Any]]:
        """Items as the model reads them; ``labels`` has head and label in one number, see `smoothed_loss`."""
        texts = (rows["premise"].to_list(), rows["hypothesis"].to_list())
        read = self.tokenizer(*texts, truncation=True, max_length=self._settings.max_length)
        labels = np.maximum(self._head_of(rows), 0) * WIDTH + rows["label"].to_numpy()
        return [{**{name: read[name][number] for name in read}, "labels": int(label)} for number, label in enumerate(labels)]

    def _head_of(self, rows: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.int64]]:
        if not self._heads:
            return np.zeros(rows.height, np.int64)
        return rows["target"].replace_strict(self._heads, default=-1, return_dtype=pl.Int64).to_numpy()

    def _metric(self, rows: pl.DataFrame) -> Callable[[Any], dict[str, float]]:
        def accuracy(said: Any) -> dict[str, float]:
            right = probabilities(np.asarray(said.predictions), self._head_of(rows)).argmax(axis=1) == rows["label"].to_numpy()
            each = rows.select("target", pl.Series("right", right)).group_by("target").agg(pl.col("right").mean())
            return {"accuracy": float(each.sort("target")["right"].to_numpy().mean())}

        return accuracy

    def _last_checkpoint(self) -> str | None:
        """The last that was written whole; what is not is deleted."""
        found = sorted((self._folder / _CHECKPOINTS).glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
        for path in reversed(found):
            if (path / _WHOLE).is_file():
                return str(path)
            shutil.rmtree(path)
        return None


def smoothed_loss(smoothing: float, replay: Callable[[int, Any], Any] | None = None) -> Callable[..., Any]:
    """Cross-entropy with label smoothing (Szegedy et al. 2016) over the three outputs of an item's own head; in training with ``replay``.

    ``labels`` are 3 x head + label. The sum over a step's items is divided by their number, as Trainer asks for; what ``replay`` adds to a
    batch counts by the batch's share of them.
    """

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        import torch

        each = outputs.logits.float().view(len(labels), -1, WIDTH)
        mine = each[torch.arange(len(labels), device=labels.device), labels // WIDTH]
        total = torch.nn.functional.cross_entropy(mine, labels % WIDTH, label_smoothing=smoothing, reduction="sum")
        if replay and torch.is_grad_enabled():
            total = total + len(labels) * replay(len(labels), labels.device)
        return total / (len(labels) if num_items_in_batch is None else num_items_in_batch)

    return loss
