"""Encoders as classifiers: trained on nli as a whole, or as they come, they answer test items; predictions are files in a folder."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from cxgen.build.tables import read_splits
from cxgen.cli.app import run as run_command
from cxgen.evaluation.report import Evaluated, Part
from cxgen.evaluation.scores import first_sets, questions
from cxgen.project import Project
from cxgen.schema import TARGET
from cxgen.vocabulary import LABELS

_BATCH = 16
_WARMUP = 0.1  # share of the steps
# Plain pairs that set the bounds of a head with two classes, which answers with one number: how much a hypothesis is contradicted.
_PLAIN = Path(__file__).with_name("plain.csv")


def learned(project: Project, limit: int, without: Sequence[str]) -> pl.DataFrame:
    """Items of nli's train at most, whole contrast sets, of a smaller limit a part of these; none with a construction left out."""
    rows = read_splits(project, "nli", ["train"])
    touched = rows.filter(pl.col("construction").is_in(list(without)) | TARGET.is_in(list(without)))
    rows = rows.join(touched, on="contrast_set", how="anti", maintain_order="left")
    return rows.join(first_sets(questions(rows, "nli"), limit), on="id", how="semi", maintain_order="left")


def batches(rows: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    """Items of about the same length together, so that little is padded."""
    ordered = rows.with_columns(length=pl.col("premise").str.len_chars() + pl.col("hypothesis").str.len_chars()).sort("length", "id")
    yield from ordered.iter_slices(size)


class Classifier:
    """A model of three labels, its tokenizer, and how they learn and answer."""

    def __init__(self, folder: Path, seed: int, threads: int, *, trained: bool) -> None:
        import torch
        import transformers

        transformers.logging.set_verbosity_error()
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        self.torch: Any = torch
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        kind: Any = transformers.AutoModelForSequenceClassification
        self.model = kind.from_pretrained(folder, **({"num_labels": len(LABELS), "ignore_mismatched_sizes": True} if trained else {}))

    def logits(self, rows: pl.DataFrame) -> Any:
        """A row per item, in bfloat16 where torch takes that for as good and the CPU is quick at it: not without AVX-512."""
        texts = self.tokenizer(rows["premise"].to_list(), rows["hypothesis"].to_list(), padding=True, return_tensors="pt")
        with self.torch.autocast("cpu", self.torch.bfloat16, enabled="AVX512" in self.torch.backends.cpu.get_cpu_capability()):
            return self.model(**texts).logits.float()

    def learn(self, rows: pl.DataFrame, rate: float, epochs: int, seed: int) -> None:
        """Train all weights but the words' embeddings, by AdamW, with a warm-up and a linear decay."""
        for name, weight in self.model.named_parameters():
            weight.requires_grad = "word_embeddings" not in name
        optimizer = self.torch.optim.AdamW([weight for weight in self.model.parameters() if weight.requires_grad], rate, weight_decay=0.01)
        steps = epochs * math.ceil(rows.height / _BATCH)
        schedule = self.torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / (_WARMUP * steps), (steps - step) / (steps * (1 - _WARMUP)))
        )
        self.model.train()
        start, done, running = time.monotonic(), 0, 0.0
        for epoch in range(epochs):
            parts = list(batches(rows, _BATCH))
            for place in self.torch.randperm(len(parts), generator=self.torch.Generator().manual_seed(seed + epoch)).tolist():
                loss = self.torch.nn.functional.cross_entropy(self.logits(parts[place]), self.torch.tensor(parts[place]["label"].to_list()))
                loss.backward()
                self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                done, running = done + 1, 0.95 * running + 0.05 * loss.item()
                if done % 20 == 0:
                    print(f"step {done} of {steps}: loss {running / (1 - 0.95**done):.3f}, {time.monotonic() - start:.0f} s", flush=True)
        self.model.eval()

    def numbers(self, rows: pl.DataFrame) -> list[float]:
        """Of each item, the probability of the last class."""
        self.model.eval()
        with self.torch.inference_mode():
            return [value for part in rows.iter_slices(2 * _BATCH) for value in self.logits(part).softmax(-1)[:, -1].tolist()]

    def answers(self, rows: pl.DataFrame) -> pl.DataFrame:
        """``id`` and a probability for each label."""
        self.model.eval()
        found = []
        with self.torch.inference_mode():
            for part in batches(rows, 2 * _BATCH):
                values = self.logits(part).softmax(-1).double().numpy().round(4)
                found.append(part.select("id").with_columns(pl.Series(label, values[:, place]) for place, label in enumerate(LABELS)))
        return pl.concat(found)


def untrained(classifier: Classifier, rows: pl.DataFrame) -> pl.DataFrame:
    """``id, label`` of a head with two classes whose second one is contradiction: the label between whose bounds its probability is.

    The bounds lie halfway between those of `_PLAIN`, of which what is entailed comes between what is open and what is contradicted.
    """
    pairs, plain = pl.read_csv(_PLAIN), dict[str, list[float]]()
    for label, number in zip(pairs["label"], classifier.numbers(pairs), strict=True):
        plain.setdefault(label, []).append(number)
    order = sorted(plain, key=lambda label: min(plain[label]))
    if any(max(plain[one]) >= min(plain[two]) for one, two in pairwise(order)):
        raise SystemExit(f"the plain pairs are not apart: {plain}")
    bounds = [(max(plain[one]) + min(plain[two])) / 2 for one, two in pairwise(order)]
    print(f"plain pairs: {', '.join(order)}, bounds {bounds}", flush=True)
    numbers = classifier.numbers(rows)
    return rows.select("id", label=pl.Series([order[sum(number > bound for bound in bounds)] for number in numbers]))


def main(
    model: Path,
    output: Annotated[Path, typer.Argument(help="What files of predictions are called: to it comes .CONFIG.parquet.")],
    train: Annotated[int, typer.Option(help="Items at most that are learned from; 0: none, a head of two classes answers.")],
    limit: Annotated[int, typer.Option(help="Items at most of each config that are answered, as evaluate --limit has it.")],
    config: Annotated[list[str], typer.Option(help="Whose test items are answered; repeatable.")],
    without: Annotated[list[str] | None, typer.Option(help="A construction that is not learned; repeatable.")] = None,
    rate: float = 1e-4,
    epochs: int = 1,
    seed: int = 1,
    threads: int = 2,
) -> None:
    """Train the MODEL in a folder and let it answer."""
    project = Project.find()
    classifier = Classifier(model, seed, threads, trained=train > 0)
    start = time.monotonic()
    if train:
        rows = learned(project, train, without or [])
        print(f"learning from {rows.height:,} items, {rows['contrast_set'].n_unique():,} sets", flush=True)
        classifier.learn(rows, rate, epochs, seed)
        print(f"learned in {time.monotonic() - start:.0f} s", flush=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    for name in config:
        (items,) = Evaluated.read(project, Part((name,), limit=limit)).items.values()
        found = classifier.answers(items) if train else untrained(classifier, items)
        found.write_parquet(output.with_name(f"{output.name}.{name}.parquet"), compression="zstd")
        print(f"answered {found.height:,} items of {name}, {time.monotonic() - start:.0f} s", flush=True)


app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
app.command()(main)

if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], app, "classify"))
