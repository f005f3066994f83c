"""Commands about words, sentences and texts: the lexicon, pseudowords, the grammar of the comparative correlative, mining."""

from collections import defaultdict
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from click import Choice
from typer import Argument, Option, echo, style

from cxgen.cli.options import Form, Name, commands, load_all
from cxgen.cli.output import Format, Row, busy, emit, note, print_json
from cxgen.curate import build as curated
from cxgen.curate.propose import propose as propose_clauses
from cxgen.errors import CxgenError, UnknownNameError, some
from cxgen.facade import Constructicon
from cxgen.files import STDIN, read_text, visible
from cxgen.lexicon import Lexicon
from cxgen.mining import search as mining
from cxgen.pseudowords import inflect, load, pseudowords
from cxgen.suites.grammar import PUBLISHED, SMALL, Grammar

_POS = Choice(["noun", "verb", "adjective"])
_SHOWN = 40  # groups in the table
_COLUMNS = ("group", "count", "label", "examples")
app, lexicon = commands(), commands()
app.add_typer(lexicon, name="lexicon")


@lexicon.command()
def build() -> None:
    """Rebuild lexicons/snapshot from the curated YAML and WordNet 3.0: the same sources give the same bytes."""
    project = Constructicon().project
    folder = project.lexicons
    if project.own_lexicons or not folder.is_relative_to(project.root):
        message = "nothing to build here: the lexicon is the shipped one; a project's own lexicons/ is read as it is"
        raise CxgenError(message, file=project.own_lexicons, hint="look at it with `cxgen lexicon classes`")
    with busy("building the lexicon"):
        counts = curated.build(folder) | curated.build_inventory(folder)
    echo(", ".join(f"{number} {what}" for what, number in counts.items()))


@app.command(
    "propose", epilog="cxgen propose caused-motion --n 2000\ncxgen judge caused-motion --backend openai --model MODEL --max-cost 5"
)
def propose_scenes(
    construction: Name,
    n: Annotated[int, Option("--n", min=1, max=100_000, help="About how many clauses, evenly over patterns and their verbs.")] = 1000,
    seed: Annotated[int, Option(help="Another seed, other words.")] = 1,
) -> None:
    """Propose scenes from the lexicon, by patterns with classes (lexicons/patterns/CONSTRUCTION.tsv), for judges to decide on.

    They stand in lexicons/scenes/CONSTRUCTION.proposed.tsv; nothing is drawn from one of them before judges have accepted it.
    """
    path, count = propose_clauses(Constructicon().project, construction, n, seed)
    echo(f"{count} scenes: {path}")


@lexicon.command()
def propose(
    name: Annotated[str, Argument(metavar="CLASS", help="A word class, such as landmarks.")],
    n: Annotated[int, Option("--n", min=1, help="How many, most frequent first.")] = 40,
    form: Form = Format.table,
) -> None:
    """List WordNet candidates for a class by frequency band: neighbours of its members, less what was accepted or refused."""
    with busy("searching WordNet"):
        table = curated.propose(Constructicon().project.lexicons, name)
    emit(table.head(n).to_dicts(), form)


@lexicon.command(epilog="cxgen lexicon classes gate")
def classes(
    word: Annotated[str | None, Argument(metavar="[WORD]", help="Only classes that hold this word.")] = None,
    form: Form = Format.table,
) -> None:
    """List the word classes with their size and the constructions that use them; with WORD those that hold it, lexeme by lexeme."""
    constructicon = Constructicon()
    loaded = load_all(constructicon)
    sources, users = [constructicon.lexicon, *(entry.lexicon for entry in loaded)], defaultdict[str, list[str]](list)
    for entry in loaded:
        for name in set().union(*map(entry.fillers, entry.slots.values())):
            users[name].append(entry.name)
    rows: dict[tuple[str, str], Row] = {}
    for source in sources:
        held = {"": None} if word is None else {source.keys[number]: number for number in source.rows_of(word)}
        for key, number in held.items():
            groups = [group for group in source.classes.values() if number is None or number in group.ids]
            if key and (not groups or key in users):  # in a frame by itself, or nowhere
                groups.append(source.resolve(key))
            for group in groups:
                name = group.name if group.name != key else ""
                about = {"class": name, "pos": group.pos, "members": len(group.ids)}
                about |= {"constructions": users.get(group.name, []), "gloss": group.gloss}
                rows[key, name] = {"lexeme": key, **about} if key else about
    if word is not None and not rows:
        raise _unknown(word, sources)
    emit([rows[names] for names in sorted(rows)], form)


def _unknown(word: str, sources: list[Lexicon]) -> UnknownNameError:
    words = get_close_matches(word, {lemma for source in sources for lemma in source.lemmas})
    groups = get_close_matches(word, {name for source in sources for name in source.classes})
    hints = [f"did you mean {' or '.join(words)}?"] if words else []
    hints += [f"classes of such a name: {', '.join(groups)}"] if groups else []
    hints = hints or [f"a template file can bring it: {{lemma: {word}}} in a class of its own"]
    return UnknownNameError(f"unknown word {word!r}", hint="; ".join(hints))


@lexicon.command()
def show(lemma: Annotated[str, Argument(metavar="LEMMA", help="A word of the lexicon, such as gate.")], form: Form = Format.table) -> None:
    """Show every lexeme of LEMMA: sense key, frequency, band, forms, relations, classes, scenes."""
    constructicon = Constructicon()
    sources = [constructicon.lexicon]
    if not sources[0].rows_of(lemma):
        sources += [entry.lexicon for entry in load_all(constructicon)]
    rows = list({row["key"]: row for source in reversed(sources) for row in _lexemes(lemma, source)}.values())
    if not rows and (senses := sources[0].senses([lemma])):
        note(f"no scene and no class has {lemma!r}; what a scene can pin, the first one being taken without a pin (docs/templates.md):")
        rows = [{"key": key, "pos": pos} for (_, pos), keys in senses.items() for key in keys]
    if not rows:
        raise _unknown(lemma, sources)
    if form is not Format.table:
        emit(rows, form)
        return
    for row in rows:
        echo(style(row["key"], bold=True))
        for name, value in row.items():
            if name != "key" and value not in (None, [], ""):
                echo(f"  {name.ljust(14)} {', '.join(value) if isinstance(value, list) else value}")


def _lexemes(lemma: str, source: Lexicon) -> Iterator[Row]:
    """The rows of ``lemma`` with all classes and scenes that hold them."""
    for number in source.rows_of(lemma):
        row = source.row(source.keys[number])
        held = [group.name for group in source.classes.values() if number in group.ids]
        frames = [(name, frame) for name in source.constructions for frame in source.frames(name)]
        scenes = [f"{name}/{frame.name}" for name, frame in frames if any(row["key"] in fillers for fillers in frame.slots.values())]
        yield {**row, "classes": held, "scenes": scenes}


@app.command(epilog="cxgen wug stride --n 10 --pos verb")
def wug(
    words: Annotated[list[str], Argument(metavar="WORD...", help="Words to imitate; they need not be in any lexicon.")],
    n: Annotated[int, Option("--n", min=1, max=1_000, help="Pseudowords per word.")] = 10,
    pos: Annotated[str | None, Option(click_type=_POS, help="Inflected forms are shown, and none of them is a word either.")] = None,
    seed: Annotated[int, Option(help="Another seed, other pseudowords among equally good ones.")] = 0,
    stats: Annotated[bool, Option("--stats", help="Lengths, segments, transition deviations, OLD20, neighbours.")] = False,
    form: Form = Format.table,
) -> None:
    """Make pseudowords: of the same length and syllables as a word, as common in their transitions, and no words."""
    with busy("searching"):
        made = pseudowords(load(), words, n, seed=seed, pos=pos)
    rows = (made if stats else made.select("word", "pseudoword")).rows(named=True)
    if longer := sum(len(row["pseudoword"]) > len(row["word"]) for row in rows):
        note(f"{longer} of {len(rows)} are longer than their word: there are too few of its length")
    emit([{**row, **(inflect(row["pseudoword"], pos) if pos else {})} for row in rows], form)


@app.command(epilog='cxgen recognise "The longer the two cats wait, the louder the six dogs bark."')
def recognise(
    sentences: Annotated[list[str] | None, Argument(help="Sentences, each in quotes; none: one a line from stdin or --file.")] = None,
    file: Annotated[Path | None, Option("--file", help="A file with one sentence a line.")] = None,
    preset: Annotated[
        str | None, Option(click_type=Choice([SMALL, PUBLISHED]), help="Only by this grammar (small: with wide's words).")
    ] = None,
    any_words: Annotated[bool, Option("--any-words", help="Take unknown words for what they look like: -er, -s.")] = False,
    form: Form = Format.table,
) -> None:
    """Say what a sentence is by the grammars of the comparative correlative: an instance, a non-instance, scrambled, or none of theirs."""
    project = Constructicon().project
    grammars = [Grammar(project, name) for name in ([preset] if preset else [PUBLISHED, SMALL])]  # small reads the words of wide, too
    if sentences and file:
        raise CxgenError("sentences, and a file of sentences", hint="give one of them")
    lines = sentences or read_text(file or STDIN).splitlines()
    texts = [line.strip() for line in lines if line.strip()]
    if not texts:
        hint = 'such as "The longer the two cats wait, the louder the six dogs bark."'
        raise CxgenError("there is no sentence", file=None if sentences else file or STDIN, hint=hint)
    found = ([grammar.recognises(text, any_words=any_words) for grammar in grammars] for text in texts)
    rows = [{"sentence": text, "is": next(filter(None, own), "")} for text, own in zip(texts, found, strict=True)]
    emit(rows, form, ["sentence", "is"])
    for text in (row["sentence"] for row in rows if not row["is"]):
        words = min((grammar.unknown(text) for grammar in grammars), key=len)
        why = f"unknown words: {some(words)}" if words and not any_words else "its words are in no order of the grammars"
        note(visible(f"none of theirs: {text} ({why})"))
    if not all(row["is"] for row in rows):
        raise typer.Exit(1)


@app.command(epilog="cxgen mine cc corpus/*.txt.gz --format csv > groups.csv\ncxgen mine cc --label groups.csv -o labelled.csv")
def mine(
    construction: Annotated[str, Argument(help="cc: comparative correlatives, by their tags. Any other one: by its form_check.")],
    files: Annotated[list[Path] | None, Argument(metavar="[FILES...]", help="Raw text in UTF-8, plain or gzip.")] = None,
    model: Annotated[str, Option(help="spaCy pipeline: the name of an installed one, or a folder.")] = "en_core_web_sm",
    output: Annotated[Path | None, Option("--out", "-o", help="Default: outputs/mined/CONSTRUCTION.jsonl; also .csv, .parquet.")] = None,
    paragraphs: Annotated[bool, Option("--paragraphs", help="Lines up to an empty one belong together: sentences go over lines.")] = False,
    field: Annotated[str | None, Option(help="The files have JSON lines; their text is in this field.")] = None,
    width: Annotated[int, Option(min=0, max=20, help="cc: tags behind each comparative by which groups differ.")] = 2,
    whole: Annotated[bool, Option("--whole", help="cc: groups differ by all tags between the halves.")] = False,
    most_between: Annotated[int, Option(min=0, max=200, help="cc: words between the halves' beginnings at most.")] = 25,
    labels: Annotated[Path | None, Option("--label", help="Read no text: write candidates whose groups this CSV file labels.")] = None,
    candidates: Annotated[Path | None, Option(help="--label: the candidates, where -o had put them. Default: the default of -o.")] = None,
    report: Annotated[bool, Option("--json", help="All that was counted, as JSON.")] = False,
    form: Form = Format.table,
) -> None:
    """Candidates for a construction in raw text, in groups of the same tags, for people to label group by group.

    Candidates are written as they come: an interrupted run goes on where it was. False comparatives (the former, all the more) are dropped
    and counted.
    """
    if (labels is None) == (not files):
        raise CxgenError("no text to read, or text and labels at once", hint="give FILES, or --label FILE")
    if candidates and labels is None:
        raise CxgenError(f"--candidates {candidates} without --label", hint="FILES are read for candidates, which -o names")
    project = Constructicon().project
    path = output or mining.default_output(project, construction if labels is None else f"{construction}-labelled")
    if labels is not None:
        counts = mining.label(project, construction, labels, path, candidates)
        emit([{"label": text, "candidates": number} for text, number in counts.items()], form)
        note(path)
        return
    search = mining.Search(construction, model, width, most_between, whole, paragraphs, field)
    try:
        result = mining.mine(project, search, files or [], path)
    except KeyboardInterrupt:
        note("the candidates so far are kept: run it again, and it goes on from there")
        raise
    groups = result["groups"]
    if report:
        print_json(result)
    elif form is Format.csv:
        emit([{name: row.get(name, "") for name in _COLUMNS} for row in groups], form, _COLUMNS)
    elif form is not Format.table:
        emit(groups, form)
    else:
        emit([{**row, "examples": row["examples"][0]} for row in groups[:_SHOWN]], form)
        if len(groups) > _SHOWN:
            note(f"... and {len(groups) - _SHOWN} smaller groups: --format csv")
    _summary(result, path)


def _summary(result: dict[str, Any], path: Path) -> None:
    counts = f"{result['candidates']} candidates in {len(result['groups'])} groups, {sum(result['dropped'].values())} dropped"
    note(f"{counts}; {result['lines']} lines, of which the pipeline read {result['passages']} passages: {path}")
    for reason, number in sorted(result["dropped"].items(), key=lambda item: (-item[1], item[0])):
        note(f"  dropped {number}: {reason}")
    if result["damaged"]:
        note(f"warning: {result['damaged']} lines have bytes or characters that are not Unicode")
